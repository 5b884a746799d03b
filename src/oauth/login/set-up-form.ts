// The form that sets up an authenticator app, for the sign-in pages, and the parts that the account page shares.
import { encode } from 'uqr';
import { type Html, html, trustedHtml } from '../../http/html.ts';
import type { CodeForm } from './sign-in-form.ts';

/** A new secret and the address that the app scans (`SecondFactors.propose`). */
interface ProposedApp {
  readonly secret: string;
  readonly uri: string;
}

export interface SetUpForm extends CodeForm {
  readonly app: ProposedApp;
}

export function readSetUp(form: URLSearchParams) {
  const part = (name: string, most: number) => (form.get(name) ?? '').slice(0, most);
  return { ticket: part('ticket', 4096), secret: part('secret', 64), code: part('code', 64) };
}

export const wrongAppCodeText = 'The code is wrong. Check the clock of your phone.';

export function setUpForm({ action, csrf, ticket, problem, hidden, app }: SetUpForm): Html {
  const described = problem && html` aria-invalid="true" aria-describedby="problem"`;
  return html`${scanStep(app)}
<form method="post" action="${action}" class="spaced">
<input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="ticket" value="${ticket}"><input type="hidden" name="secret" value="${app.secret}">${hidden}
<div class="field"><label for="code">Code that the app shows</label>
<input id="code" name="code" type="text" class="code" inputmode="numeric" autocomplete="one-time-code" required maxlength="12"${described}>
<p class="note" id="problem" role="alert">${problem}</p></div>
<button class="primary" name="action" value="set-up">Turn on and continue</button>
</form>`;
}

export const setUpLead =
  'Your password is correct. Signing in here also needs a code of an authenticator app. Scan this with any app for one-time codes, such as your password manager, Aegis, 2FAS, Google or Microsoft Authenticator.';

/** The code to scan, and the key to type. */
export function scanStep({ secret, uri }: ProposedApp): Html {
  return html`<div class="qr">${drawCode(uri)}<div><span>Or enter this key:</span><code>${secret.match(/.{4}/g)!.join(' ')}</code></div></div>`;
}

/** Recovery codes are shown once. `next` is the address of the button below them. */
export function recoveryCodes(codes: readonly string[], next: string, label: string): Html {
  return html`<h1>Your recovery codes</h1>
<p class="lead">Each code signs you in once, in place of a code from the app. Keep them where you can find them without your phone. They are not shown again.</p>
<ul class="codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul>
<p><a class="button primary slim" href="${next}">${label}</a></p>`;
}

/** QR code, dark on light in every color scheme because cameras expect that. It is inline SVG, which the CSP allows. */
function drawCode(text: string): Html {
  const { data, size } = encode(text, { ecc: 'M', border: 4 });
  const path = data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
  return html`<svg viewBox="0 0 ${size} ${size}" role="img" aria-label="QR code for the app" shape-rendering="crispEdges"><rect width="${size}" height="${size}" fill="#fff"/><path fill="#000" d="${trustedHtml(path)}"/></svg>`;
}
