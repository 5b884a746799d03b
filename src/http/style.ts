// The style of the sign-in and consent pages, without external fonts, images or scripts. The policy header contains its
// hash.

export const style = `
:root{color-scheme:light dark;--bg:#f5f4f0;--card:#fff;--ink:#1c1b1a;--soft:#5d5a55;--line:#dedbd4;--field:#fff;--edge:#8a867e;
--accent:#1f5f4a;--accent-ink:#fff;--accent-hover:#174c3b;--tint:#eaf2ee;--warn-bg:#fdf3dc;--warn-line:#e3c27a;--warn-ink:#5e4407;
--bad-bg:#fdecea;--bad-line:#e0a29a;--bad-ink:#8c1d13;--shadow:0 1px 2px rgba(28,27,26,.06),0 12px 32px rgba(28,27,26,.07)}
@media (prefers-color-scheme:dark){:root{--bg:#141513;--card:#1e1f1d;--ink:#f0efeb;--soft:#b0ada6;--line:#363733;--field:#171816;--edge:#85827b;
--accent:#7fd1b2;--accent-ink:#0c1f18;--accent-hover:#9be0c5;--tint:#20302a;--warn-bg:#33290f;--warn-line:#705a22;--warn-ink:#f3d998;
--bad-bg:#3a1b18;--bad-line:#7d3a33;--bad-ink:#ffb9b0;--shadow:none}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;min-height:100vh;min-height:100dvh;display:flex;flex-direction:column;align-items:center;justify-content:center;padding:24px 16px;
background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{width:100%;max-width:440px;background:var(--card);border:1px solid var(--line);border-radius:16px;padding:32px;box-shadow:var(--shadow)}
.brand{display:flex;align-items:center;gap:12px;margin:0 0 24px;color:var(--soft);font-size:14px}
.brand svg{flex:none;width:36px;height:36px;stroke:var(--accent-ink)}.brand .tile{fill:var(--accent);stroke:none}
.brand strong{display:block;color:var(--ink);font-weight:650;letter-spacing:-.005em;line-height:1.3}
.brand span{display:block;line-height:1.3;overflow-wrap:anywhere}
h1{margin:0 0 8px;font-size:24px;line-height:1.25;font-weight:650;letter-spacing:-.015em;overflow-wrap:anywhere;text-wrap:balance}
h1+.facts{margin-top:16px}
h2{margin:20px 0 8px;font-size:14px;font-weight:600;color:var(--soft)}
p{margin:0 0 16px;text-wrap:pretty}
main>p:last-child{margin-bottom:0}
.lead{color:var(--soft);margin-bottom:24px;overflow-wrap:anywhere}
.lead b{color:var(--ink);font-weight:600}
.field{margin:0 0 16px}
label{font-weight:600;font-size:15px}
.field label{display:block;margin-bottom:6px}
input[type=email],input[type=password],input[type=text],select{width:100%;height:46px;padding:0 12px;font:inherit;color:inherit;background:var(--field);border:1px solid var(--edge);border-radius:10px}
input[aria-invalid=true]{border-color:var(--bad-ink);border-width:2px;padding:0 11px}
.note{min-height:22px;margin:6px 0 0;font-size:14px;line-height:22px;color:var(--bad-ink);font-weight:500}
input.code{font-size:20px;letter-spacing:.12em;font-variant-numeric:tabular-nums}
input.device{text-transform:uppercase;text-align:center;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.codes{list-style:none;margin:0 0 24px;padding:16px;display:grid;grid-template-columns:repeat(auto-fit,minmax(190px,1fr));gap:8px 20px;border:1px solid var(--line);border-radius:12px;background:var(--tint)}
.codes code{font-size:16px;color:var(--ink);white-space:nowrap}
.qr{display:flex;gap:20px;align-items:center;flex-wrap:wrap;margin-top:14px}.qr svg{width:200px;height:200px;border-radius:8px;flex:none}
.qr span{display:block;color:var(--soft);font-size:14px}.qr code{font-size:15px;color:var(--ink)}.qr>div{min-width:0;flex:1 1 180px}
dd .code{font:600 18px/24px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;letter-spacing:.08em}
.spaced{margin-top:20px}.pair.single{grid-template-columns:1fr}
.hint{margin:16px 0 0;color:var(--soft);font-size:14px}
button{width:100%;min-height:48px;padding:10px 20px;font:inherit;font-weight:600;border-radius:10px;border:1px solid transparent;cursor:pointer}
a.button{display:block;width:100%;min-height:48px;padding:11px 20px;font-weight:600;border-radius:10px;text-align:center;text-decoration:none;overflow-wrap:anywhere}
button{overflow-wrap:anywhere}
.way{margin:0;text-align:center}.way .primary{margin:0 0 4px}.way+.way{margin-top:12px}
.or{display:flex;align-items:center;gap:12px;margin:12px 0 16px;color:var(--soft);font-size:14px}.or::before,.or::after{content:'';flex:1;border-top:1px solid var(--line)}
.primary{background:var(--accent);color:var(--accent-ink)}
.primary:hover{background:var(--accent-hover)}
.plain{background:transparent;color:var(--ink);border-color:var(--edge)}
.plain:hover{background:var(--tint)}
.quiet{width:auto;min-height:0;padding:8px 0;background:none;color:var(--accent);text-decoration:underline;text-underline-offset:3px;font-weight:500;border-radius:4px}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:12px;margin-top:20px}
.below{margin:12px 0 -8px;text-align:center}
.facts{margin:0;border:1px solid var(--line);border-radius:12px}
.facts>div{padding:10px 16px;display:grid;grid-template-columns:92px 1fr;gap:12px}
.facts>div+div{border-top:1px solid var(--line)}
dt{color:var(--soft);font-size:14px;line-height:24px}
dd{margin:0;min-width:0;overflow-wrap:anywhere}
dd small,.scope small{display:block;color:var(--soft);font-size:14px;line-height:1.45}
.badge{display:inline-block;padding:1px 8px;border-radius:99px;font-size:12.5px;font-weight:600;line-height:20px;background:var(--tint);color:var(--accent);white-space:nowrap}
.badge.unsure{background:var(--warn-bg);color:var(--warn-ink)}
.scopes{list-style:none;margin:0;padding:0;border:1px solid var(--line);border-radius:12px}
.scope{display:grid;grid-template-columns:22px 1fr;gap:12px;padding:10px 16px}
.scope+.scope{border-top:1px solid var(--line)}
.scope b,.scope label{font-weight:600;font-size:16px}
.scope svg{width:20px;height:20px;margin-top:2px;color:var(--accent)}
.scope input{width:20px;height:20px;margin:2px 0 0;accent-color:var(--accent)}
.scope.writes input:disabled{opacity:.5}
.badge.new{background:var(--warn-bg);color:var(--warn-ink)}
.limits{margin:12px 0 0;border:1px solid var(--line);border-radius:12px}
.limits summary{padding:10px 16px 10px 50px;cursor:pointer;list-style:none;position:relative;border-radius:12px}
.limits summary::-webkit-details-marker{display:none}
.limits summary::before{content:"";position:absolute;left:22px;top:17px;width:8px;height:8px;border:solid var(--accent);border-width:0 2px 2px 0;transform:rotate(-45deg)}
.limits[open] summary::before{transform:rotate(45deg);top:15px}
.limits summary b{display:block;font-weight:600}.limits summary small,.scope+.limits small{display:block;color:var(--soft);font-size:14px;line-height:1.45}
.limits>.scope,.limits>fieldset,.limits>.lasts{border:0;border-top:1px solid var(--line);margin:0}
.limits>fieldset{padding:10px 16px 12px;min-width:0}
legend{float:left;width:100%;padding:0;font-weight:600;margin-bottom:4px}legend+*{clear:both}
.which{display:grid;grid-template-columns:22px 1fr;gap:12px;padding:4px 0;font-weight:400;font-size:15px;line-height:24px}
.which input,.names input{width:20px;height:20px;margin:2px 0 0;accent-color:var(--accent)}
.choose{margin:8px 0 0}
@supports selector(:has(*)){fieldset:not(:has(#some:checked)) .choose{display:none}
.consent:has(#readonly:checked) .writes label,.consent:has(#readonly:checked) .writes small{text-decoration:line-through;color:var(--soft)}}
.find label{display:block;font-size:14px;margin-bottom:4px}.find>div{display:grid;grid-template-columns:1fr auto;gap:8px}.find button{width:auto;min-height:42px;padding:8px 16px}
input[type=search],select{width:100%;height:42px;padding:0 12px;font:inherit;color:inherit;background:var(--field);border:1px solid var(--edge);border-radius:10px}
.quiet-note{margin:8px 0 0;color:var(--soft);font-size:14px}
.names{list-style:none;margin:10px 0 0;padding:4px 12px;border:1px solid var(--line);border-radius:10px;max-height:264px;overflow-y:auto;background:var(--field)}
.names label{display:grid;grid-template-columns:22px 1fr;gap:12px;padding:6px 0;font-weight:400;font-size:15px;line-height:24px;overflow-wrap:anywhere}
.names span{min-width:0}
.lasts{display:grid;grid-template-columns:auto 1fr;gap:12px;align-items:center;padding:12px 16px}
.alert.above{margin:16px 0 0}
.warning{margin:16px 0 0;padding:12px 16px;border:1px solid var(--warn-line);border-radius:12px;background:var(--warn-bg);color:var(--warn-ink);font-size:15px}
.alert{margin:0 0 20px;padding:12px 16px;border:1px solid var(--bad-line);border-radius:12px;background:var(--bad-bg);color:var(--bad-ink);font-size:15px}
code{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;color:var(--soft);overflow-wrap:anywhere}
footer{margin:16px 0 0;max-width:400px;text-wrap:balance;text-align:center;color:var(--soft);font-size:14px}
@media (max-width:480px){body{justify-content:flex-start;padding:0;background:var(--card)}
main{border:0;border-radius:0;box-shadow:none;padding:24px 20px}h1{font-size:22px}.facts>div{grid-template-columns:76px 1fr}footer{padding:0 20px 24px;margin-top:0}}
@media (forced-colors:active){.primary{border:1px solid ButtonText}}
`;
