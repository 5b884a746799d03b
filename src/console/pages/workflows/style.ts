// Style of workflows: drawing, editor, and the page of a run.
import { editorStyle } from './editor/style.ts';

export const workflowsStyle = `
.flow{background:var(--bg);text-align:center}.graph{display:inline-block;vertical-align:top;margin:12px}
.graph text{font:13px/1 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;fill:var(--soft)}
.graph .name{font-size:14.5px;font-weight:600;fill:var(--ink)}
.graph.narrow text{font-size:12px}.graph.narrow .name{font-size:13px}.graph.narrow{display:none}
@media (max-width:600px){.graph.narrow{display:inline-block}.graph.wide:not(:only-child){display:none}}
.graph .way{fill:none;stroke:var(--edge);stroke-width:1.5}.graph marker path{fill:var(--edge)}
.graph rect{fill:var(--card);stroke:var(--edge);stroke-width:1.2}.graph .first{stroke-width:2.4}
.graph .done rect,.graph .skipped rect{fill:var(--tint);stroke:var(--accent)}.graph .done .kind{fill:var(--accent)}
.graph .skipped rect{stroke-dasharray:5 4}
.graph .begun rect{stroke:var(--accent);stroke-width:2.4;stroke-dasharray:5 4}
.graph .waiting rect{fill:var(--warn-bg);stroke:var(--warn-line);stroke-width:2.4}.graph .waiting text{fill:var(--warn-ink)}
.graph .failed rect{fill:var(--bad-bg);stroke:var(--bad-line);stroke-width:2.4}.graph .failed text{fill:var(--bad-ink)}
.graph .unknown rect{stroke:var(--warn-line);stroke-width:2.4;stroke-dasharray:5 4}.graph .unanswered rect{stroke-dasharray:5 4}
.graph .end rect{fill:none}.graph .behind{fill:var(--bg);stroke:none}
.outline{margin:12px 0 0;padding:0 0 0 24px}.outline li{padding:0 0 12px 4px}.outline li>span:last-child{display:block;color:var(--soft);font-size:15px}
.code-area textarea{font:14px/1.55 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre;overflow-x:auto;tab-size:2}
.wrong-line{display:block;margin:6px 0 0;padding:8px 12px;overflow-x:auto;border:1px solid var(--bad-line);border-radius:8px;background:var(--bad-bg)}.wrong-line code{color:var(--bad-ink);white-space:pre}
.narrow{max-width:440px}
.deeds{display:flex;flex-wrap:wrap;gap:12px;align-items:center;margin:12px 0 20px}.deeds form,.deeds button{margin:0;width:auto}.table .deeds{margin:0;gap:8px}.table .deeds button{white-space:nowrap}
.editing .pair{max-width:440px}
.question{margin:0 0 24px;padding:20px;border:1px solid var(--warn-line);border-radius:12px}.question h2{margin:0 0 8px;font-size:18px;color:var(--ink)}.question .pair{max-width:440px;margin-top:16px}
.files{margin:0;padding:0;list-style:none}.files li+li{margin-top:6px}.files a{overflow-wrap:anywhere}
.question .told,.said{white-space:pre-wrap;overflow-wrap:anywhere;margin:0 0 16px}
.reference dt code{font-size:14px;color:var(--ink)}.reference dd{margin:0 0 10px}.reference h2{color:var(--ink);margin:20px 0 4px;font-size:16px}
h1+.question{margin-top:16px}
@media (max-width:600px){.graph{margin:6px}}
@media (max-width:480px){.question{padding:16px}}
${editorStyle}`;
