// Style of the console on top of the style of the sign-in pages: frame with navigation, wider pages, lists and
// comparisons. A subject with many rules of its own keeps a style sheet in its folder, which is added below.
import { style } from '../../http/style.ts';
import { apiStyle } from '../pages/api/style.ts';
import { dataStyle } from '../pages/data/style.ts';
import { notesStyle } from '../pages/notes/style.ts';
import { playgroundStyle } from '../pages/playground/style.ts';
import { rightsStyle } from '../pages/rights/style.ts';
import { settingsStyle } from '../pages/settings/style.ts';
import { startStyle } from '../pages/start/style.ts';
import { workflowsStyle } from '../pages/workflows/style.ts';
import { filterStyle } from './filter/style.ts';
import { navigationStyle } from './navigation-style.ts';
import { partsStyle } from './parts-style.ts';

export const consoleStyle = `${style}
.console{display:grid;grid-template-columns:256px minmax(0,1fr);align-items:start;justify-content:stretch;padding:0;background:linear-gradient(90deg,var(--bg) 255px,var(--line) 255px 256px,var(--card) 256px)}
.skip{position:absolute;left:-999px;top:8px;background:var(--card);padding:8px 12px;border-radius:8px;z-index:2}.skip:focus{left:8px}
.side{position:sticky;top:0;height:100vh;height:100dvh;overflow-y:auto;display:flex;flex-direction:column;padding:20px 16px 12px;background:var(--bg);border-right:1px solid var(--line);scrollbar-width:thin}
.top{display:none}
.console .brand{margin:0;padding:4px 8px;text-decoration:none;border-radius:10px}
.who{display:flex;gap:4px 12px;align-items:center;justify-content:space-between;margin:20px 0 0;padding:12px;border-top:1px solid var(--line);font-size:14px}
.who span{min-width:0;overflow-wrap:anywhere}.who button{flex:none;font-size:14px;padding:4px 0}
.console main{max-width:900px;margin:0;padding:36px 44px 64px;border:0;border-radius:0;box-shadow:none}
.console main.wide{max-width:1320px}
.console main h1{font-size:26px}
@media (max-width:860px){.console{display:block;background:var(--card)}.side{display:none}
.top{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:0 12px;padding:10px 12px;background:var(--bg);border-bottom:1px solid var(--line)}
.top{position:relative}.top .brand{min-width:0;flex:1 1 0}
.menu>summary{list-style:none;cursor:pointer;font-weight:600;font-size:15px;padding:9px 14px;border:1px solid var(--edge);border-radius:10px;min-height:44px;line-height:24px}
.menu>summary::-webkit-details-marker{display:none}.menu>summary::after{content:"";display:inline-block;width:7px;height:7px;margin:0 2px 3px 10px;border:solid var(--accent);border-width:0 2px 2px 0;transform:rotate(45deg)}
.menu[open]>summary::after{transform:rotate(225deg);margin-bottom:-1px}
.menu>div{position:absolute;z-index:3;inset:100% 0 auto;padding:0 12px 8px;background:var(--bg);border-bottom:1px solid var(--line);box-shadow:var(--shadow);max-height:calc(100dvh - 68px);overflow-y:auto}
}
a{color:var(--accent);text-underline-offset:3px}
h1+.state{margin-top:16px}
h2.plainly{font-size:17px;color:var(--ink);margin:28px 0 10px}
.state{display:flex;gap:12px;align-items:flex-start;margin:0 0 20px;padding:14px 16px;border-radius:12px;border:1px solid var(--line);background:var(--tint)}
.state b{display:block;font-weight:650}.state span{display:block;color:var(--soft);font-size:15px}
.state svg{flex:none;width:22px;height:22px;margin-top:1px;color:var(--accent)}
.state.bad{background:var(--bad-bg);border-color:var(--bad-line)}.state.bad svg,.state.bad b{color:var(--bad-ink)}
.state.over{background:transparent}.state.over svg{color:var(--soft)}
.state.wait{background:var(--warn-bg);border-color:var(--warn-line)}.state.wait svg,.state.wait b{color:var(--warn-ink)}.state.wait span{color:var(--warn-ink)}
.facts+.changes,.changes+.changes{margin-top:16px}
.changes{width:100%;border-collapse:separate;border-spacing:0;border:1px solid var(--line);border-radius:12px;overflow:hidden;table-layout:fixed}
.changes caption{text-align:left;font-weight:600;padding:0 0 8px}
.changes th,.changes td{text-align:left;vertical-align:top;padding:9px 14px;font-weight:400;overflow-wrap:anywhere}
.changes thead th{color:var(--soft);font-size:13px;font-weight:600;background:var(--bg);border-bottom:1px solid var(--line)}
.changes tbody th{font-weight:600;font-size:15px}
.changes tbody tr+tr>*{border-top:1px solid var(--line)}
.changes td{font:14px/1.6 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
td del{color:var(--soft);text-decoration-thickness:1px}
td del.gone{color:var(--bad-ink);text-decoration:none}
td ins{text-decoration:none;background:var(--tint);color:var(--accent);padding:1px 5px;border-radius:5px;font-weight:600;box-decoration-break:clone;-webkit-box-decoration-break:clone}
td i{color:var(--soft);font-style:normal}
.apps{list-style:none;margin:0;padding:0}.quietly+.apps,.quietly+.rows{margin-top:10px}
.apps li{display:grid;grid-template-columns:1fr auto;gap:4px 16px;align-items:start;padding:16px;border:1px solid var(--line);border-radius:12px}.apps li+li{margin-top:12px}
.apps h2{margin:0;font-size:17px;color:var(--ink);overflow-wrap:anywhere}.apps h2 small{display:block;color:var(--soft);font-size:14px;font-weight:400}
.apps dl{grid-column:1/-1;grid-row:2;margin:8px 0 0;display:grid;gap:3px}.apps dl>div{display:grid;grid-template-columns:116px 1fr;gap:12px}
.apps dt,.apps dd{font-size:15px;line-height:1.45}.apps dd small{font-size:14px}
.apps form{grid-column:2;grid-row:1}.apps form.naming{grid-column:1/-1;grid-row:3;display:flex;gap:8px;max-width:420px;margin-top:8px}.apps button{width:auto;min-height:38px;padding:6px 16px;font-size:15px}
.filter{display:grid;grid-template-columns:1fr 1fr auto;gap:12px;align-items:end;margin:16px 0 20px}
.filter label{display:block;font-size:14px;margin-bottom:4px}.filter button{width:auto;min-height:42px;padding:8px 18px}
.quietly{color:var(--soft);font-size:15px;margin:12px 0 0}
.decide{margin-top:28px;padding-top:20px;border-top:1px solid var(--line)}
.decide .pair{margin-top:0}
.danger{background:var(--bad-ink);color:var(--card)}.danger:hover{filter:brightness(.93)}
.rows{list-style:none;margin:0;padding:0;border:1px solid var(--line);border-radius:12px;overflow:hidden}
.rows li+li{border-top:1px solid var(--line)}
.rows a{display:block;padding:14px 16px;color:inherit;text-decoration:none}.rows a:hover{background:var(--tint)}
.rows b{display:block;font-weight:600;color:var(--accent)}.rows span{display:block;color:var(--soft);font-size:14px}
.empty{padding:28px 20px;text-align:center;border:1px dashed var(--edge);border-radius:12px;color:var(--soft)}
.empty b{display:block;color:var(--ink);font-weight:600;margin-bottom:4px}
.leave{margin:28px 0 0;padding-top:20px;border-top:1px solid var(--line)}.leave button{width:auto;min-height:42px;padding:8px 20px}
.done{margin:0 0 16px;padding:12px 16px;border:1px solid var(--line);border-radius:12px;background:var(--tint);font-weight:500}
.two{display:grid;grid-template-columns:1fr 1fr;gap:0 12px}
.slim{width:auto;min-height:42px;padding:8px 20px}
.head{display:flex;flex-wrap:wrap;gap:8px 20px;align-items:flex-start;justify-content:space-between;margin:0 0 4px}.head a.button{width:auto;min-height:44px;padding:9px 18px}
.plain-set{border:0;margin:0 0 20px;padding:0;min-width:0}.plain-set>legend{margin-bottom:10px}.plain-set>.note{margin:-6px 0 8px}.plain-set .choice{margin-bottom:12px}.plain-set .warning,.plain-set .quietly{margin:0 0 14px}
.note.calm{color:var(--soft);font-weight:400}
.unseen{position:absolute;left:-9999px;width:1px;height:1px}
:where(.console) a.button{display:inline-block;width:auto;text-decoration:none;font-weight:600;border-radius:10px;border:1px solid transparent;padding:10px 20px}
:where(.console) a.button.plain{border-color:var(--edge)}
section+section{border-top:1px solid var(--line);margin-top:24px}
section>h2.plainly{margin-top:20px}
.more{margin:8px 0 0}
.more[open]{padding-bottom:4px}
.more>summary{cursor:pointer;color:var(--accent);font-weight:500;border-radius:6px;width:fit-content;padding:4px 0}
.more form{margin-top:12px;max-width:440px}
.choice{display:grid;align-content:start;grid-template-columns:20px 1fr;gap:2px 12px;margin:0 0 20px}.choice input{width:20px;height:20px;margin:2px 0 0;accent-color:var(--accent)}
.choice small{grid-column:2;color:var(--soft);font-size:14px}
.sessions li{display:flex;gap:12px;align-items:center;justify-content:space-between;padding:12px 16px}
.sessions li b{color:var(--ink)}
.sessions form,.sessions .badge{flex:none}.sessions .badge{color:var(--accent)}
.quietly+p{margin-top:12px}.state span b{color:var(--ink)}
.steps{margin:16px 0 0;padding:0 0 0 24px}.steps>li{padding:0 0 20px 8px}.steps>li>b{display:block}.steps>li>span{color:var(--soft);font-size:15px}
.steps>li::marker{font-weight:650;color:var(--accent)}
.steps form{margin-top:14px;max-width:440px}
.clients{border:1px solid var(--line);border-radius:12px;margin:0 0 20px;overflow:hidden}
.clients details+details{border-top:1px solid var(--line)}
.clients summary{list-style:none;cursor:pointer;padding:12px 16px;font-weight:600;display:flex;justify-content:space-between;align-items:center;outline-offset:-3px;border-radius:12px}
.clients summary::-webkit-details-marker{display:none}.clients summary:hover{background:var(--tint)}.clients details[open] summary{color:var(--accent)}
.clients summary::after{content:"";flex:none;width:8px;height:8px;margin:0 4px 4px 12px;border:solid var(--accent);border-width:0 2px 2px 0;transform:rotate(45deg)}.clients details[open] summary::after{transform:rotate(225deg);margin-bottom:-4px}
.clients details>div{padding:0 16px 16px}.clients p{margin:0 0 10px}.clients p:last-child{margin:0}.clients .copyable{margin-bottom:10px}.clients .warning{margin:0 0 12px}
.state.arrived{border-color:var(--accent)}
.pulse{flex:none;width:12px;height:12px;margin:6px 4px;border-radius:50%;background:var(--accent)}
.tick{flex:none;width:20px;height:20px;margin:2px 0;border-radius:50%;background:var(--accent);position:relative}.tick::after{content:"";position:absolute;left:7px;top:3px;width:5px;height:10px;border:solid var(--accent-ink);border-width:0 2px 2px 0;transform:rotate(45deg)}
@media (prefers-reduced-motion:no-preference){.pulse{animation:pulse 1.8s ease-in-out infinite}@keyframes pulse{50%{opacity:.25;transform:scale(.7)}}}
.aside{margin-left:16px}
@media (max-width:480px){.two{grid-template-columns:1fr}.filter{grid-template-columns:1fr}.apps dl>div{grid-template-columns:96px 1fr}.changes th,.changes td{padding:8px 10px}.changes td,.changes tbody th{font-size:13.5px}}
${navigationStyle}${partsStyle}${filterStyle}${dataStyle}${apiStyle}${notesStyle}${playgroundStyle}${rightsStyle}${workflowsStyle}${settingsStyle}${startStyle}`;
