// Controls for foreign keys: the related record is chosen by its name. With many records, a search finds some of them.
import { packId } from '../../../agent/encode/record-id.ts';
import type { CollectionDescription } from '../../../agent/requests.ts';
import { isAppError } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import type { InputRequestField } from '../../../workflows/input-requests/fields.ts';
import type { Parts, SignedInRequest } from '../../page-request.ts';
import { idsFilter, shortName } from '../../records/names.ts';
import { type Option, selectField } from '../../ui/form.ts';
import { inputName, textOf } from '../../ui/value-input.ts';
import { toOneRelations } from './list/columns.ts';

/** A longer list is not useful: the search finds a record faster. */
const OFFERED = 50;

/** The control of each field that is a foreign key, by field. */
export async function readLookups(
  described: CollectionDescription,
  fields: readonly InputRequestField[],
  problems: ReadonlyMap<string, string>,
  request: SignedInRequest,
  parts: Parts,
): Promise<ReadonlyMap<string, Html>> {
  const relations = toOneRelations(described, request.access).filter(
    ({ columns, only }) => columns.length === 1 && !only && fields.some(({ name }) => name === columns[0]),
  );
  const controls = relations.map(async ({ name, to, columns, references }) => {
    const field = fields.find((each) => each.name === columns[0])!;
    const target = parts.engine.describe(request.access, to);
    const key = references ?? target.key;
    if (key.length !== 1) return [];
    const labelled = { ...field, label: name };
    const control = await readLookup(labelled, { ...target, key }, problems.get(field.name), request, parts);
    return control ? [[field.name, control] as const] : [];
  });
  return new Map((await Promise.all(controls)).flat());
}

/**
 * Undefined if records of the collection have no name or no key. The value of a choice is the packed key. `name`: of the
 * control.
 */
export async function readLookup(
  field: InputRequestField,
  target: CollectionDescription,
  problem: string | undefined,
  { access, form, signal }: Pick<SignedInRequest, 'access' | 'form' | 'signal'>,
  { engine }: Pick<Parts, 'engine'>,
  name = inputName(field),
): Promise<Html | undefined> {
  const { key, displayField, searchable } = target;
  if (key.length === 0 || displayField === undefined) return undefined;
  const chosen = form.has(name) ? form.get(name)! : textOf(field.value);
  const search = (form.get(`find.${field.name}`) ?? '').trim().slice(0, 200);
  const read = async (more: object, limit: number) => {
    const listed = { collection: target.name, fields: [...key, displayField], limit, ...more };
    const { rows, hasMore } = await engine.list(access, listed, { signal });
    const named = rows.map((row): Option => {
      const id = packId(row.slice(0, key.length));
      return [id, shortName(row[key.length]) ?? id];
    });
    // Two records with one name are told apart by their ids.
    const isUnique = ([, text]: Option) => named.filter((each) => each[1] === text).length === 1;
    const options = named.map((each): Option => (isUnique(each) ? each : [each[0], `${each[1]} (${each[0]})`]));
    return { options, hasMore };
  };
  try {
    const { options, hasMore } = await read(search !== '' && searchable ? { search } : {}, OFFERED);
    const isKnown = chosen === '' || options.some(([id]) => id === chosen);
    const current = isKnown ? [] : (await read({ filter: idsFilter(key, [chosen]) }, 1)).options;
    // A record that the viewer may not see stays, by its id.
    const first: Option = current[0] ?? [chosen, chosen];
    const id = `lookup-${field.name}`;
    const select = selectField({
      ...{ id, name, label: field.label, value: chosen, required: field.required },
      ...(problem !== undefined && { problem }),
      options: [['', field.required ? 'Choose' : 'None'], ...(isKnown ? [] : [first]), ...options],
    });
    const isLong = searchable && (hasMore || search !== '');
    return html`<div class="lookup">${select}${isLong && html`<div class="field"><label for="find-${field.name}">Find in ${target.name}</label><div class="list-find"><input type="search" id="find-${field.name}" name="find.${field.name}" value="${search}" maxlength="200"><button class="plain slim" name="action" value="find" formnovalidate>Find</button></div></div>`}</div>`;
  } catch (error) {
    // Without a list, the key itself can be typed.
    if (isAppError(error) && error.status < 500) return undefined;
    throw error;
  }
}
