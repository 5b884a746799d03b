// Style of the navigation: sections at the side or in the menu, tabs and breadcrumbs above the page.

export const navigationStyle = `
.place{min-width:0}
.console nav ul,.crumbs ol{list-style:none;margin:0;padding:0}
.side nav{flex:1 0 auto;margin-top:20px}
.side nav a,.menu nav a{display:flex;align-items:center;justify-content:space-between;gap:8px;padding:9px 12px;border-radius:8px;color:var(--ink);text-decoration:none;font-weight:500;font-size:15px}
.side nav a:hover,.menu nav a:hover{background:var(--tint)}.side a[aria-current],.menu a[aria-current]{background:var(--tint);color:var(--accent);font-weight:600}
.tally{min-width:22px;padding:0 7px;border-radius:99px;background:var(--accent);color:var(--accent-ink);font-size:12.5px;font-weight:650;line-height:22px;text-align:center}
.tabs{padding:14px 44px 0;border-bottom:1px solid var(--line);background:var(--card)}
.tabs ul{display:flex;flex-wrap:wrap;gap:0 4px}
.tabs a{display:block;padding:9px 12px 10px;border-bottom:3px solid transparent;color:var(--soft);text-decoration:none;font-weight:500;font-size:15px;line-height:22px}
.tabs a:hover{color:var(--ink)}.tabs a[aria-current]{color:var(--accent);border-color:var(--accent);font-weight:600}
.crumbs{padding:18px 44px 0;font-size:14px}.crumbs ol{display:flex;flex-wrap:wrap;gap:0 8px}.crumbs li{min-width:0;overflow-wrap:anywhere;color:var(--soft)}.crumbs li+li::before{content:"/";margin-right:8px;color:var(--edge)}
.crumbs+main{padding-top:16px}.console .crumbs+main{padding-top:16px}
.badge.bad{background:var(--bad-bg);color:var(--bad-ink)}.badge.busy{background:transparent;color:var(--accent);box-shadow:inset 0 0 0 1px var(--accent)}
.inbox{list-style:none;margin:0;padding:0}.inbox li{margin:0;padding:14px 16px;border:1px solid var(--line);border-radius:12px}.inbox li+li{margin-top:12px}.inbox .shown{grid-column:1/-1;margin-top:10px;min-width:0}.inbox .shown:empty{display:none}
.results{list-style:none;margin:0 0 20px;padding:12px 16px;border:1px solid var(--line);border-radius:12px;background:var(--tint)}.results li+li{margin-top:8px}
@media (max-width:860px){.side nav{display:none}.menu nav ul{columns:2;column-gap:12px}.menu nav li{break-inside:avoid}.menu nav a{padding:10px 12px}.menu nav{padding-top:12px}.menu .who{margin-top:12px}
.tabs{padding:6px 12px 0}.tabs a{padding:10px 8px}.crumbs{padding:14px 20px 0}.console main{padding:28px 20px 48px}}
`;
