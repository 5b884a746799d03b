// Style of the start page: numbers and the chart of a day.
export const startStyle = `
.tiles{list-style:none;margin:0 0 16px;padding:0;display:grid;grid-template-columns:repeat(4,minmax(0,1fr));gap:12px}
.tiles a{display:block;padding:12px 16px;border:1px solid var(--line);border-radius:12px;color:var(--soft);font-size:14px;text-decoration:none}.tiles a:hover{background:var(--tint)}
.tiles b{display:block;color:var(--ink);font-size:24px;line-height:1.3;font-weight:650;font-variant-numeric:tabular-nums}
.hours{display:block;width:100%;height:auto}.hours text{fill:var(--soft);font-size:12px}.hours path{stroke:var(--line)}
.hour-good,.key-good{fill:var(--accent);background:var(--accent)}.hour-failed,.key-failed{fill:var(--bad-ink);background:var(--bad-ink)}
.hours-key{display:flex;align-items:center;gap:8px;margin:4px 0 0;color:var(--soft);font-size:14px}.key-good,.key-failed{width:12px;height:12px;border-radius:3px}.key-failed{margin-left:12px}
@media (max-width:600px){.tiles{grid-template-columns:1fr 1fr}.hours text{font-size:22px}}
`;
