// Style of the editor and of the dry run.

export const editorStyle = `
.wf-tabs{display:flex;flex-wrap:wrap;gap:4px 20px;margin:8px 0 16px;border-bottom:1px solid var(--line)}.wf-tabs a{padding:10px 2px 9px;text-decoration:none;border-bottom:2px solid transparent}.wf-tabs a[aria-current]{color:var(--ink);font-weight:600;border-color:var(--accent)}
.wf-cols{display:grid;grid-template-columns:minmax(0,1.25fr) minmax(0,1fr);gap:0 32px;align-items:start}.wf-cols>div{min-width:0}
.wf-steps,.wf-tried{margin:0 0 16px;padding:0;list-style:none;border:1px solid var(--line);border-radius:12px;counter-reset:step}
.wf-steps>li,.wf-tried>li{display:flex;flex-wrap:wrap;gap:8px 16px;justify-content:space-between;padding:14px 16px;counter-increment:step}.wf-steps>li+li,.wf-tried>li+li{border-top:1px solid var(--line)}
.wf-steps b::before,.wf-tried>li>b::before{content:counter(step) ". "}.wf-steps li>div:first-child{min-width:0;flex:1 1 220px}.wf-steps span{display:block;color:var(--soft);font-size:14.5px;overflow-wrap:anywhere}
.wf-moves{display:flex;gap:8px;align-items:start}.wf-moves button{min-height:38px;padding:4px 12px;font-size:14px}
.wf-tried>li{display:block}.wf-tried p{margin:8px 0}.wf-tried .changes{margin:8px 0}.wf-tried span.quietly{margin:0}
.wf-add{display:grid;grid-template-columns:1fr 1fr;gap:12px;align-items:end;justify-items:stretch}.wf-add .field{margin:0;min-width:0}.wf-add .slim{justify-self:start}
.wf-set{margin:0 0 20px;padding:14px 16px;border:1px solid var(--line);border-radius:12px;min-width:0}.wf-set>legend{float:none;width:auto;padding:0 6px;margin:0}
.wf-set>.hint{margin:0 0 12px}.wf-part{margin:0 0 14px;padding:12px 14px;border:1px solid var(--edge);border-radius:10px;background:var(--card);min-width:0}.wf-part>legend{float:none;width:auto;padding:0 6px;margin:0;font-size:14px}
.wf-cols form>.quietly{margin:0 0 16px}.wf-part>.quietly{margin:0 0 10px}
.wf-part .fb-row,.wf-set .fb-row{grid-template-columns:minmax(0,1fr) auto}.wf-cols .fb-row b{grid-column:1}.wf-cols .fb-row .fb-x{grid-column:2;grid-row:1}.wf-cols .fb-row>select,.wf-cols .fb-value{grid-column:1/-1}
.wf-part .fb{margin:0 0 12px;padding:10px 12px}.wf-set .slim{min-height:42px;padding:6px 14px;font-size:14.5px}
.wf-row{display:grid;grid-template-columns:minmax(0,1.4fr) minmax(0,1fr) auto;gap:8px 12px;align-items:end;padding:10px 0}.wf-row+.wf-row{border-top:1px solid var(--line)}.wf-row .field,.wf-row .choice,.wf-row fieldset{margin:0}.wf-row>select{height:46px;width:100%}.wf-row .slim{min-height:46px}
.quietly+.question{margin-top:12px}.wf-cols .ticks .choice{margin:0 0 10px}.wf-cols .ticks{grid-template-columns:repeat(auto-fill,minmax(150px,1fr))}
@media (max-width:1100px){.wf-cols{grid-template-columns:minmax(0,1fr)}}
@media (max-width:680px){.wf-add,.wf-row{grid-template-columns:minmax(0,1fr)}.wf-row{align-items:stretch}.wf-row .slim{justify-self:start}}
`;
