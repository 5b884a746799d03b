// Style of the pages of records.

export const dataStyle = `
.head h1 small{display:block;font-size:15px;font-weight:400;color:var(--soft)}
.head .deeds{margin:0}.deeds a.button{width:auto;min-height:42px;padding:8px 20px}
.records{font-size:14.5px}.records th,.records td{padding:8px 12px;max-width:320px}.records th,.records td{overflow-wrap:break-word}
.records thead th a{color:inherit;text-decoration:none;display:block}.records thead th a:hover{text-decoration:underline}
.records .number{text-align:right;font-variant-numeric:tabular-nums;overflow-wrap:normal}
.records .pick{width:1px;padding:6px 0 6px 14px}.records .pick input{display:block;width:20px;height:20px;margin:2px;accent-color:var(--accent)}
.bulk{display:flex;flex-wrap:wrap;gap:10px;align-items:center;margin:0 0 16px;padding:0;border:0;min-width:0;font-size:15px}.bulk select{width:auto;min-width:0;max-width:260px;min-height:42px}.bulk-field{display:flex;gap:6px;min-width:0}.bulk .slim{padding:6px 16px;font-size:15px}
.picked{overflow-wrap:anywhere}
.none{color:var(--soft);font-style:normal}.lines{white-space:pre-wrap}
.list-form{margin:0 0 4px}.list-find{display:flex;flex-wrap:wrap;gap:8px 10px;margin:0 0 4px}.list-find input{flex:1 1 200px;min-width:0;max-width:420px}.list-find select{width:auto;max-width:220px}.list-find .slim{min-height:42px;padding:6px 16px;font-size:15px}
.list-form summary span{color:var(--soft);font-weight:400;overflow-wrap:anywhere}.list-form .fb-tools{padding:0 0 16px}.list-form .fb+.fb-tools a{font-size:15px}
.console main .more>form{max-width:none}
.record .facts{margin:16px 0 24px}.record .facts>div{grid-template-columns:minmax(110px,220px) minmax(0,1fr)}.record dt{overflow-wrap:anywhere}
.record .json,pre.json{margin:0;max-height:320px;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere;font:13px/1.55 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.figure b{font-size:28px;font-weight:650}.figure span{color:var(--soft)}
.headed.metrics{margin:32px 0 12px}.meanings{margin:0 0 16px}.meanings .quietly{margin:4px 0 10px}
#filter{font:14px/1.6 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
@media (max-width:680px){.record .facts>div{grid-template-columns:minmax(90px,120px) minmax(0,1fr)}}
`;
