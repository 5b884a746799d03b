// The two password fields of a new password, and their error messages.
import { isAppError } from '../../../core/errors.ts';
import { timingSafeEqualText } from '../../../core/secret.ts';
import { type Html, html } from '../../../http/html.ts';

interface ChosenPassword {
  readonly password: string;
  /** Set when the two fields differ. */
  readonly problem?: string;
}

export function readNewPassword(form: URLSearchParams): ChosenPassword {
  const password = form.get('new') ?? '';
  return timingSafeEqualText(password, form.get('again') ?? '')
    ? { password }
    : { password, problem: 'The passwords do not match.' };
}

/** Error message for a password that the storage rejects. Rethrows every other error. */
export function passwordProblem(thrown: unknown): string {
  if (!isAppError(thrown, 'INVALID_ARGUMENT') || thrown.details.argument !== 'password') throw thrown;
  const { problem } = thrown.details;
  return `${problem[0]!.toUpperCase()}${problem.slice(1)}`;
}

/** `email` is for the browser's password manager. */
export function newPasswordFields(email: string, problem?: string, focus = false): Html {
  const described = html` aria-describedby="new-note"${problem && html` aria-invalid="true"`}`;
  return html`<input class="unseen" type="email" name="email" autocomplete="username" value="${email}" readonly tabindex="-1" aria-hidden="true">
<div class="field"><label for="new">New password</label>
<input id="new" name="new" type="password" autocomplete="new-password" required minlength="10" maxlength="1024"${described}${focus && html` autofocus`}></div>
<div class="field"><label for="again">Repeat the new password</label>
<input id="again" name="again" type="password" autocomplete="new-password" required minlength="10" maxlength="1024"${described}>
${problem ? html`<p class="note" id="new-note" role="alert">${problem}</p>` : html`<p class="note calm" id="new-note">At least 10 characters. A few words are easier to remember than symbols.</p>`}</div>`;
}
