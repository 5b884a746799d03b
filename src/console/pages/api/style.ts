// Style of the page about the public API.

export const apiStyle = `
.operations section+section{border:0;margin-top:0}
.operations ul{list-style:none;margin:8px 0 0;padding:0}.operations li a{display:block;padding:6px 0;text-decoration:none}.operations li a:hover{text-decoration:underline}
.method{display:inline-block;min-width:4.2em;font:600 13px/1.6 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;color:var(--accent)}
.operation{border-top:1px solid var(--line);margin-top:32px}.operation h2{scroll-margin-top:24px}
.address{overflow-wrap:anywhere}.operation .more{margin:4px 0 12px}.operation .more .copyable{margin-top:12px}
`;
