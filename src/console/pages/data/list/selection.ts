// Selecting records of the list to change several at once: a box in each row, and below the table what to do with them.
// Only what the viewer may do is offered; each call checks the same rights.
import type { ActionDescription } from '../../../../agent/actions/catalogue.ts';
import type { CollectionDescription } from '../../../../agent/requests.ts';
import { RECORDS_LIMIT } from '../../../../agent/write/target.ts';
import { type Html, html } from '../../../../http/html.ts';
import type { InputRequestField } from '../../../../workflows/input-requests/fields.ts';
import type { Parts, SignedInRequest } from '../../../page-request.ts';
import { segment } from '../../../paths.ts';
import { openForm } from '../../../ui/form.ts';
import { actionsFor } from '../actions.ts';
import { formFields } from '../form.ts';
import { mayDelete, mayEdit } from '../rights.ts';
import { type ListState, queryOf } from '../state.ts';

export const bulkPage = (collection: string): string => `/bulk/${segment(collection)}`;

/** What the viewer may do with several records at once. */
interface BulkRights {
  /** The fields that can be set to one value. The key differs for each record. */
  readonly fields: readonly InputRequestField[];
  readonly deletes: boolean;
  readonly actions: readonly ActionDescription[];
}

/** Undefined if there is nothing to do with several records, or they have no ids. */
export function bulkRights(
  described: CollectionDescription,
  request: SignedInRequest,
  parts: Parts,
): BulkRights | undefined {
  const { name, key } = described;
  if (key.length === 0 || !request.access.can('read', name)) return undefined;
  const fields = mayEdit(request, parts, described)
    ? formFields(described, undefined).filter((field) => !key.includes(field.name))
    : [];
  const deletes = mayDelete(request, parts, described);
  const actions = actionsFor(name, request, parts).filter(({ scope }) => scope === 'Bulk');
  return fields.length > 0 || deletes || actions.length > 0 ? { fields, deletes, actions } : undefined;
}

export const selectHead = html`<th scope="col" class="pick"><span class="unseen">Select</span><input type="checkbox" hidden data-pick="record" aria-label="Select all on this page"></th>`;

export const selectCell = (id: string | undefined, name: string): Html =>
  html`<td class="pick">${id !== undefined && html`<input type="checkbox" name="record" value="${id}" aria-label="Select ${name}"><input type="hidden" name="page" value="${id}">`}</td>`;

interface SelectionForm {
  readonly state: ListState;
  readonly rights: BulkRights;
  readonly table: Html;
  /** Records on this page. */
  readonly shown: number;
  /** Records that the list has in total; undefined if they were not counted. */
  readonly count: number | undefined;
  readonly isLast: boolean;
}

const figures = new Intl.NumberFormat('en');
export const countRecords = (count: number): string => `${figures.format(count)} ${count === 1 ? 'record' : 'records'}`;

export function selectionForm(form: SelectionForm, request: SignedInRequest, parts: Parts): Html {
  const { state, rights, table } = form;
  const { fields, deletes, actions } = rights;
  const run = actions.map(
    ({ name }) => html`<button class="plain slim" name="action" value="run:${name}">${name}</button>`,
  );
  return html`${openForm(request, parts, bulkPage(state.collection))}<input type="hidden" name="list" value="${queryOf(state, { cursor: state.cursor, trail: state.trail }).toString()}">
${table}
<fieldset class="bulk"><legend class="unseen">Several records at once</legend>
<label for="which">With</label><select id="which" name="which">${choices(form).map(([value, text]) => html`<option value="${value}">${text}</option>`)}</select>
${fields.length > 0 && html`<span class="bulk-field"><select name="field" aria-label="Field to change">${fields.map(({ name, label }) => html`<option value="${name}">${label}</option>`)}</select><button class="plain slim" name="action" value="change">Change</button></span>`}
${deletes && html`<button class="plain slim" name="action" value="delete">Delete</button>`}${run}
</fieldset></form>`;
}

/** The records that the form can name. Those that are too many for one call are not offered. */
function choices({ shown, count, isLast, state }: SelectionForm): readonly (readonly [value: string, text: string])[] {
  const isWhole = isLast && state.cursor === '';
  const page = isWhole ? `all ${countRecords(shown)}` : `all ${shown} on this page`;
  const isMany = !isWhole && (count === undefined || count <= RECORDS_LIMIT);
  const all = count === undefined ? 'all that match' : `all ${figures.format(count)} that match`;
  return [['selected', 'the selected records'], ['page', page], ...(isMany ? [['all', all] as const] : [])];
}
