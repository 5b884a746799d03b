// The question of a waiting step as a form: a text, typed fields, and one button per decision.
import { type Html, html } from '../../../http/html.ts';
import type { Run } from '../../../store/workflows/types.ts';
import type { InputRequest } from '../../../workflows/input-requests/input-request.ts';
import type { Parts, SignedInRequest } from '../../page-request.ts';
import { parseCount, runPage } from '../../paths.ts';
import { openForm } from '../../ui/form.ts';
import { isFileField, valueInput } from '../../ui/value-input.ts';
import { changeTables, effectTables, shownValue, valueTable } from '../approvals/changes-view.ts';
import { fileLinks } from '../approvals/saved-file.ts';

interface FormError {
  readonly problem: string;
  readonly field?: string;
}

/** Step that a submitted form answers. */
export const readPosition = (form: URLSearchParams): number | undefined => parseCount(form.get('position'));

interface FormTarget {
  /** The page that posts the answer. */
  readonly page: string;
  /** What the page shows instead of the form to users who may not answer. */
  readonly refused: string;
  /** More hidden fields. */
  readonly hidden?: Html;
}

export const runTarget = ({ id }: Pick<Run, 'id'>): FormTarget => ({
  page: runPage(id),
  refused: 'Send the link to this page to a person who can answer.',
});

export function questionForm(
  question: InputRequest,
  { page, refused, hidden }: FormTarget,
  request: SignedInRequest,
  parts: Parts,
  formError?: FormError,
): Html {
  const { title, text, fields, changes = [], decisions, position, refusal } = question;
  const isOfField = formError?.field !== undefined && fields.some(({ name }) => name === formError.field);
  const inputs = fields.map((one, at) =>
    valueInput(one, at, {
      submitted: readPosition(request.form) === position ? request.form : undefined,
      fileLimitBytes: parts.config.fileLimitBytes,
      submittedProblem: formError?.field === one.name ? formError.problem : undefined,
      isRetry: formError !== undefined,
    }),
  );
  return html`<section class="question" aria-labelledby="question"><h2 id="question">${title}</h2>
${text !== undefined && text !== '' && html`<p class="told">${text}</p>`}
${formError && !isOfField && html`<p class="alert" role="alert">${formError.problem}</p>`}
${changes.length > 0 && changesTable(question, (number) => parts.paths.path(`${page}/files/${number}?asked=${position}`))}
${effectTables(question.effects ?? [], question.unseen ?? [])}
${
  refusal !== null
    ? html`<p class="warning" role="note">${refusal} ${refused}</p>`
    : html`${openForm(request, parts, page, fields.some(isFileField) ? 'files' : 'fields')}${hidden}<input type="hidden" name="position" value="${position}">${inputs}<div class="pair${decisions.length === 1 && ' single'}">${decisions.map(({ id, label }, at) => html`<button class="${at === 0 ? 'primary' : 'plain'}" name="action" value="${id}"${at > 0 && html` formnovalidate`}>${label}</button>`)}</div></form>`
}
</section>`;
}

/** Updates have a previous value; inputs of actions and tools do not. */
function changesTable({ changes = [], type }: InputRequest, addressOf: (number: number) => string): Html {
  if (type !== 'update-record') {
    const rows = changes.map(({ field: name, after, files }) => {
      const links = files?.map(({ number, text }) => ({ text, address: addressOf(number) }));
      const value = links ? fileLinks(links) : shownValue(after);
      return [name, html`<ins>${value}</ins>`] as const;
    });
    return valueTable(html`<caption>With these values</caption>`, 'Value', rows);
  }
  const fields = Object.fromEntries(changes.map(({ field: name, before, after }) => [name, { before, after }]));
  return changeTables('update', [{ id: '', fields }]);
}
