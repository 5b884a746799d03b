// Style of the shared building blocks.

export const partsStyle = `
.scroll{--shade:rgba(28,27,26,.2);overflow-x:auto;background:linear-gradient(to left,var(--card) 30%,transparent) right/48px 100% no-repeat local,linear-gradient(to left,var(--shade),transparent) right/18px 100% no-repeat;border:1px solid var(--line);border-radius:12px;margin:0 0 16px;scrollbar-width:thin}
@media (prefers-color-scheme:dark){.scroll{--shade:rgba(255,255,255,.22)}}
.table{width:100%;border-collapse:collapse;font-size:15px}
.table th,.table td{text-align:left;vertical-align:top;padding:10px 14px;font-weight:400}
.table thead th{color:var(--soft);font-size:13px;font-weight:600;background:var(--bg);border-bottom:1px solid var(--line);white-space:nowrap}
.table tbody th{font-weight:600;min-width:9em;overflow-wrap:break-word}
.table tbody tr+tr>*{border-top:1px solid var(--line)}
.table small{display:block;color:var(--soft);font-size:13.5px;font-weight:400}
.table code{overflow-wrap:break-word}
.table time{white-space:nowrap}
.table form{margin:0}.table button{width:auto;min-height:36px;padding:4px 14px;font-size:14.5px}
.pager{display:flex;gap:20px;margin:0 0 16px}
.filters{display:grid;grid-template-columns:repeat(auto-fill,minmax(170px,1fr));gap:12px;align-items:end;margin:0 0 20px}
.filter-box>summary{cursor:pointer;color:var(--accent);font-weight:600;width:fit-content;padding:8px 0;margin:0 0 12px;border-radius:6px}
@supports selector(::details-content){@media (min-width:861px){.filter-box>summary{display:none}.filter-box::details-content{display:block;content-visibility:visible}}}
.filters .field{margin:0}.filters label{font-size:14px;margin-bottom:4px;font-weight:500}
.filters .field input,.filters .field select{height:42px;min-height:42px;font-size:15px}.filters .slim{justify-self:start}
input[type=file]{display:block;width:100%;font:inherit;font-size:15px;color:var(--soft)}
input[type=file]::file-selector-button{font:inherit;font-weight:600;color:var(--ink);background:var(--card);min-height:44px;margin:0 12px 0 0;padding:0 16px;border:1px solid var(--edge);border-radius:10px;cursor:pointer}
input[type=date],input[type=datetime-local],input[type=time],input[type=number],textarea{width:100%;min-height:46px;padding:0 12px;font:inherit;color:inherit;background:var(--field);border:1px solid var(--edge);border-radius:10px}
textarea{padding:10px 12px;line-height:1.45;resize:vertical}
textarea[aria-invalid=true],select[aria-invalid=true]{border-color:var(--bad-ink);border-width:2px}
.field .hint{margin:6px 0 0}
select{min-height:42px}.field select{min-height:46px}
.field+.note{margin-top:-8px}
.copyable{display:flex;align-items:stretch;margin:0 0 16px;border:1px solid var(--line);border-radius:10px;background:var(--bg);overflow:hidden}
.copyable pre{flex:1;min-width:0;margin:0;padding:11px 14px;overflow-x:auto;scrollbar-width:thin;border-radius:10px;outline-offset:-3px}
.copyable code{font-size:14px;line-height:1.6;color:var(--ink);overflow-wrap:normal;white-space:pre}
.copyable button{width:auto;flex:none;min-width:92px;min-height:44px;padding:6px 16px;font-size:14.5px;border:0;border-left:1px solid var(--line);border-radius:0;color:var(--accent);outline-offset:-3px}
.bar{display:flex;gap:10px;align-items:center}.bar svg{flex:none;width:120px;height:8px;background:var(--tint);border-radius:4px}.bar rect{fill:var(--accent)}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,320px),1fr));gap:16px;margin:0 0 16px}
.chart{margin:0;padding:12px 16px 14px;border:1px solid var(--line);border-radius:12px;min-width:0}.chart figcaption{font-weight:600;margin:0 0 8px;overflow-wrap:anywhere}.chart .quietly{margin:8px 0 0;font-size:13.5px}
.chart-bars{display:grid;grid-template-columns:minmax(60px,max-content) minmax(60px,1fr) auto;gap:6px 12px;align-items:center;font-size:14px}.chart-bars .bar svg{flex:1 1 0;width:auto;height:12px}.chart-bars .number{text-align:right;font-variant-numeric:tabular-nums}
.chart-label{max-width:14em;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.chart-line{display:grid;grid-template:minmax(0,1fr) auto auto/auto minmax(0,1fr) minmax(0,1fr);gap:2px 10px;font-size:13px;color:var(--soft);font-variant-numeric:tabular-nums}
.chart-line svg{grid-area:1/2/3/4;width:100%;height:150px;overflow:visible}.chart-line path{fill:none;stroke:var(--accent);stroke-width:2.25;stroke-linejoin:round;stroke-linecap:round;vector-effect:non-scaling-stroke}.chart-line path.zero{stroke:var(--line);stroke-width:1}
.chart-high{grid-area:1/1;text-align:right}.chart-low{grid-area:2/1;text-align:right}.chart-first{grid-area:3/2}.chart-last{grid-area:3/3;text-align:right}
[hidden]{display:none!important}
`;
