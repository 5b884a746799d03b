// Style of the playground: text areas, tables of records, and exact text.
const mono = 'ui-monospace,SFMono-Regular,Menlo,Consolas,monospace';

export const playgroundStyle = `.hints{margin:0 0 16px}.hints code{font-size:14px;margin-right:6px}
.told{white-space:pre-wrap;overflow-wrap:anywhere;color:var(--soft)}
.tool-list code{font-weight:400;margin-left:6px}h2.plainly small{font-weight:400;font-size:14px;color:var(--soft);margin-left:4px}
.call{margin-top:20px}
.call textarea.mono{font:14px/1.55 ${mono}}
.call .hint{margin:5px 0 0}.call .note{min-height:0}.call .choice .note{grid-column:2}
.call label{font:600 14px/1.5 ${mono}}.call .must{font:400 13px/1.5 system-ui,sans-serif;color:var(--soft)}
.call .more{margin:4px 0 20px}.call .more>summary{margin-bottom:8px}
.args{display:grid;grid-template-columns:repeat(auto-fit,minmax(280px,1fr));gap:0 20px}.args .choice{align-self:center}
.run{display:flex;align-items:center;gap:20px;flex-wrap:wrap}.run .primary{width:auto;min-width:140px}
.answer pre,.more pre,main>pre{margin:8px 0 0;padding:12px 14px;max-height:420px;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere;font:13px/1.55 ${mono};background:var(--bg);border:1px solid var(--line);border-radius:10px;color:var(--ink)}
.answer .more{margin:14px 0 0}.answer .source{margin:14px 0 0;font-size:15px;color:var(--soft);overflow-wrap:anywhere}.answer .source b{color:var(--ink);font-weight:600}
.answer .sql+.quietly{margin:4px 0 0;font-size:14px}
.answer+h2.plainly{margin-top:32px;padding-top:24px;border-top:1px solid var(--line)}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(180px,1fr));gap:12px;margin:0 0 16px}
.figures>div{padding:10px 14px;border:1px solid var(--line);border-radius:12px}.figures dt{line-height:1.4;font-size:13px}.figures dd{font-weight:600}.figures small{font-weight:400}
.sheet{overflow:auto;max-height:520px;border:1px solid var(--line);border-radius:12px}
.sheet table{border-collapse:separate;border-spacing:0;width:100%;font-size:14px}
.sheet th,.sheet td{padding:8px 12px;text-align:left;vertical-align:top;max-width:320px;min-width:64px;overflow-wrap:break-word}
.sheet thead th{position:sticky;top:0;background:var(--bg);border-bottom:1px solid var(--line);font-weight:600;white-space:nowrap}
.sheet tbody tr+tr td{border-top:1px solid var(--line)}.sheet i{color:var(--soft);font-style:normal}.sheet .short{white-space:nowrap}.sheet thead .number,.sheet .number{text-align:right;font-variant-numeric:tabular-nums}
.remarks span{margin-right:12px;overflow-wrap:anywhere}.remarks b{font-weight:600}
.next{margin:14px 0 0}
.an{margin:16px 0 0}.an select,.an input[type=text]{height:42px;min-height:42px;font-size:15px;width:auto;min-width:0;max-width:100%}.an .slim{min-height:42px;padding:6px 14px;font-size:14.5px;width:auto}.an .primary{width:auto}
.an-from,.an-line,.an-what,.an-name,.an-short,.an-limit{display:flex;flex-wrap:wrap;gap:8px 10px;align-items:center;min-width:0}.an-from label,.an-limit label{font-weight:600}.an-limit{margin:16px 0 8px}.an-limit input{width:100px!important}
.an-part{border-top:1px solid var(--line);margin-top:20px}.an-part>h2.plainly{margin:18px 0 8px}.an-part h3{font-size:15px;margin:14px 0 4px}.an-part>.more{margin-top:14px}.an-part .quietly{margin:4px 0}.an-part .choice{margin:14px 0 0}
.an-row{border:1px solid var(--line);border-radius:12px;margin:0 0 10px;padding:10px 14px;min-width:0}.an-what{flex:1 1 320px}.an-what small{color:var(--soft);flex:1 1 100%}.an-name{font-weight:400;flex:0 1 auto}.an-name input{width:200px!important;flex:1 1 120px}.an-short{font-weight:400}.an-short input{width:76px!important}.an-name span,.an-short span,.an-what>span{color:var(--soft)}
.an-row .more{margin:4px 0 0}.an-row .fb{margin:6px 0 4px}.an summary span{color:var(--soft);font-weight:400;overflow-wrap:anywhere}.an .run{margin-top:22px}.an-call{margin-bottom:20px}.an-call+.answer{padding-top:20px}.an-row.an-line .an-what{flex:1 1 0}.an-call .copyable{margin:8px 0 0}.an-call .copyable pre{max-height:420px;overflow:auto;border:0;margin:0}
@media (max-width:680px){fieldset .an-what{flex-basis:100%}.an-what select{flex:1 1 130px}.an-name{flex:1 1 0}.an-name input{width:auto!important}.an-from select{flex:1 1 160px}}
`;
