// Style of the pages about people and their rights.

export const rightsStyle = `
.headed{display:flex;gap:12px 20px;align-items:center;flex-wrap:wrap;margin:0 0 8px}.headed h1,.headed h2{margin:0}.headed .button{margin-left:auto;width:auto}
.headed+.facts{margin-top:16px}
.badge.off{background:var(--bg);color:var(--soft);border:1px solid var(--line)}
.trio{display:grid;grid-template-columns:repeat(auto-fit,minmax(190px,1fr));gap:0 16px}
.fixed b{display:block;font-size:15px;margin-bottom:6px}.fixed span{display:block;padding:10px 0 2px}.fixed small{color:var(--soft);font-size:14px}
.ticks{display:grid;grid-template-columns:repeat(auto-fit,minmax(220px,1fr));gap:0 20px}
.row-of-buttons{display:flex;flex-wrap:wrap;gap:12px;margin-top:24px}
.matrix{border:1px solid var(--line);border-radius:12px;border-collapse:separate;border-spacing:0;margin:0 0 20px}
.matrix tbody th{min-width:12em}.matrix tbody th small{margin-top:2px}.matrix small .badge{margin-right:6px}
.matrix td{padding:0}.matrix td,.matrix thead th+th{text-align:center;width:11%}
.matrix td label{display:flex;align-items:center;justify-content:center;gap:8px;min-height:52px;cursor:pointer}
.matrix td label:hover{background:var(--tint)}
.matrix input[type=checkbox]{width:20px;height:20px;margin:0;accent-color:var(--accent)}
.matrix td label span:not(.unseen){position:absolute;left:-9999px}
.matrix .rest>*{background:var(--bg)}
.granted{color:var(--accent);font-weight:700}
.effects{margin:0 0 16px;padding:14px 18px;border:1px solid var(--line);border-radius:12px;background:var(--tint)}
.effects h2{margin:0 0 6px;font-size:15px;color:var(--ink)}
.effects ul{margin:0;padding:0 0 0 20px}.effects li{margin:4px 0;overflow-wrap:anywhere}
.effects.opens{background:var(--warn-bg);border-color:var(--warn-line);color:var(--warn-ink)}.effects.opens h2{color:var(--warn-ink)}
.effects+.effects{border-top:1px solid var(--line)}
.named{list-style:none;margin:0;padding:0;border:1px solid var(--line);border-radius:12px}
.named li{display:grid;grid-template-columns:minmax(0,1fr) minmax(150px,220px);gap:12px;align-items:center;padding:8px 14px}
.named li+li{border-top:1px solid var(--line)}.named label{font-size:15px;overflow-wrap:anywhere}.named select{height:40px;font-size:15px}
.action{margin:0 0 16px;padding:14px 16px;border:1px solid var(--line);border-radius:12px;min-width:0}
.action legend small{color:var(--soft);font-weight:400;font-size:14px}.action .field{margin-bottom:8px}.action textarea,#filter{font:14px/1.6 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.action>.two{clear:both;padding-top:6px}.action .more form,.action .more .field{max-width:none}
.try{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:12px;align-items:end;margin:0 0 16px}.try .field{margin:0}.try select{height:46px}.try button{min-height:46px}
.console main p.quietly:first-child{margin:0 0 4px;font-size:14px}
@media (max-width:680px){.matrix,.matrix tbody{display:block}.matrix thead{position:absolute;left:-9999px}
.matrix tr{display:grid;grid-template-columns:repeat(3,1fr);padding:10px 4px}.matrix tbody tr+tr{border-top:1px solid var(--line)}.matrix tbody tr+tr>*{border-top:0}
.matrix tbody th{grid-column:1/-1;padding:4px 12px}.matrix td{width:auto}.matrix td label{justify-content:flex-start;padding:0 12px;min-height:44px;font-size:14.5px;font-weight:400}
.matrix td label span:not(.unseen){position:static}.matrix .rest{background:var(--bg);border-radius:12px 12px 0 0}
.named li{grid-template-columns:1fr}.try{grid-template-columns:1fr}.headed .button{margin-left:0}}
`;
