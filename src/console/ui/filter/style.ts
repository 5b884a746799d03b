// Style of the filter builder.

export const filterStyle = `
.fb{margin:0 0 16px;padding:14px 16px;border:1px solid var(--line);border-radius:12px;background:var(--bg)}
.fb select,.fb input,.fb textarea{font-size:15px}.fb select,.fb input{height:42px;min-height:42px}
.quietly+.fb{margin-top:10px}.fb-match{display:flex;flex-wrap:wrap;gap:4px 10px;align-items:center;margin:0 0 10px}.fb-match select{width:auto}.fb-one{position:absolute;left:-9999px}
.fb-row{display:grid;grid-template-columns:minmax(120px,1.1fr) minmax(130px,1fr) minmax(140px,1.5fr) auto;gap:8px 10px;align-items:center;padding:8px 0}
.fb-row+.fb-row,.fb-row+.fb-group{border-top:1px solid var(--line)}.fb-row b{font-weight:600;font-size:15px;overflow-wrap:anywhere}
.fb-value{display:flex;gap:8px;min-width:0}.fb-value>*{min-width:0;flex:1 1 0}.fb-value select[multiple]{height:auto;padding:6px 10px}
.fb-open .fb-value input,.fb-open .fb-value select,.fb-open .fb-value textarea{border-style:dashed}
.fb-group{margin:8px 0;padding:10px 14px;border:1px solid var(--edge);border-radius:10px;background:var(--card);min-width:0}.fb-group legend{float:none;width:auto;padding:0 6px;margin:0;font-size:14px}
.fb-tools,.fb-add{display:flex;flex-wrap:wrap;gap:8px 10px;align-items:center}.fb-tools{padding-top:8px}.fb-add select{width:auto;max-width:260px}.fb .slim{min-height:42px;padding:6px 14px;font-size:14.5px}
.fb-more{margin:0}.fb-more select{width:auto;min-width:0;max-width:min(260px,100%)}
@media (max-width:680px){.fb{padding:12px}.fb-row{grid-template-columns:1fr auto}.fb-row b{grid-column:1}.fb-row .fb-x{grid-column:2;grid-row:1}.fb-row>select,.fb-value{grid-column:1/-1}.fb-value{flex-wrap:wrap}.fb-add{flex:1 1 100%}.fb-add select{flex:1 1 0;max-width:none;min-width:0}}
`;
