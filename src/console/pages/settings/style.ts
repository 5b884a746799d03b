// Style of the settings page: one line per setting on wide screens, three on phones.
export const settingsStyle = `
.state+.list-find,.findings+.list-find{margin:18px 0 10px}.settings small code{white-space:nowrap}
.findings{list-style:none;margin:0 0 8px;padding:0}.findings .state{margin:0 0 10px}
.pager a[aria-current]{color:var(--ink);font-weight:600;text-decoration:none}
.settings-group>summary h2{display:inline;margin:0;font-size:17px;color:inherit}.settings-group>summary span{color:var(--soft);font-weight:400;font-size:15px}.settings-group .settings{margin:8px 0 16px}
.settings{margin:0;border:1px solid var(--line);border-radius:12px;overflow:hidden}
.settings>div{display:grid;grid-template-columns:minmax(0,1.5fr) minmax(0,1fr) 116px;gap:2px 20px;padding:11px 16px}.settings>div+div{border-top:1px solid var(--line)}
.settings dt,.settings dd{margin:0;font-size:15px;overflow-wrap:anywhere}.settings dt code{font-weight:600;font-size:14px;color:var(--ink)}
.settings dt small{display:block;color:var(--soft);font-size:13.5px}.settings dt small code{font-weight:400;font-size:13px;color:inherit}
.settings dd i,.settings .from{color:var(--soft);font-style:normal}.settings .set .from{color:var(--accent);font-weight:600}
@media (max-width:640px){.settings>div{grid-template-columns:minmax(0,1fr) auto}.settings dt{grid-column:1/-1}}
`;
