// Style of threads.

export const notesStyle = `
.heading{display:flex;flex-wrap:wrap;gap:8px 16px;align-items:start;justify-content:space-between;margin:0 0 8px}.heading h1{margin:0;min-width:0;flex:1 1 120px}.heading+.facts{margin-top:16px}
.heading a.button,.heading form{flex:none;margin:0;width:auto}
.notes b .badge{display:inline-block;margin-left:8px;vertical-align:1px;font-size:12.5px;color:var(--warn-ink)}.filters .choice{margin:0;align-self:center}.notes b{overflow-wrap:anywhere}
.thread{list-style:none;margin:24px 0;padding:0;display:grid;gap:14px}
.thread>li{padding:14px 18px;border:1px solid var(--line);border-radius:12px;scroll-margin-top:16px}
.thread>li.own{background:var(--tint);border-color:transparent}
.thread header{display:flex;flex-wrap:wrap;gap:0 12px;align-items:baseline;margin:0 0 6px}
.thread header b{font-weight:650}.thread header span{color:var(--soft);font-size:14px}.own header span{color:var(--ink)}
.prose{overflow-wrap:anywhere;unicode-bidi:isolate}.prose>:first-child{margin-top:0}.prose>:last-child{margin-bottom:0}
.prose p,.prose ul,.prose ol,.prose pre,.prose blockquote{margin:0 0 10px}.prose ul,.prose ol{padding-left:22px}.prose ul{list-style:disc}
.prose h3,.prose h4{margin:14px 0 6px;font-size:16px;font-weight:650}.prose pre{overflow-x:auto;padding:10px 12px;background:var(--bg);border:1px solid var(--line);border-radius:8px;font-size:14px}
.prose blockquote{padding-left:12px;border-left:3px solid var(--line)}
.thread .more form{max-width:none}.thread .more>summary,.tools .more>summary{font-size:14.5px}
.tools{display:flex;flex-wrap:wrap;gap:12px 24px;align-items:start;margin:28px 0 0;padding:20px 0 0;border-top:1px solid var(--line)}.tools form{margin:0}.tools .more{margin:6px 0 0;flex:0 1 auto}.tools .more[open]{flex:1 1 100%}.tools .more form{margin-top:12px}
.write textarea{min-height:112px}
`;
