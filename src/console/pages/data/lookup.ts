// Controls for foreign keys: the related record is chosen by its name. With many records, a search finds some of them.
import { packId, splitId } from '../../../agent/encode/record-id.ts';
import type { CollectionDescription, RelationDescription } from '../../../agent/requests.ts';
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

/**
 * The relations that a form offers. One of several columns is not offered if another one has a column of it: the records
 * of both could not be chosen independently.
 */
function offeredRelations(
  described: CollectionDescription,
  fields: readonly InputRequestField[],
  { access }: Pick<SignedInRequest, 'access'>,
): readonly RelationDescription[] {
  const held = toOneRelations(described, access).filter(({ columns }) => columns.length > 0);
  return held.filter((relation) => {
    const { columns, only } = relation;
    if (only || !columns.every((column) => fields.some(({ name }) => name === column))) return false;
    const overlaps = (other: RelationDescription) => other.columns.some((column) => columns.includes(column));
    return columns.length === 1 || !held.some((other) => other !== relation && overlaps(other));
  });
}

const choiceName = ({ name }: RelationDescription): string => `choice.${name}`;

/** Writes a chosen record of a key of several columns into the form, as the value of each column. */
export function applyChoices(
  described: CollectionDescription,
  fields: readonly InputRequestField[],
  request: Pick<SignedInRequest, 'access' | 'form'>,
): void {
  const { form } = request;
  for (const relation of offeredRelations(described, fields, request)) {
    const chosen = relation.columns.length > 1 ? form.get(choiceName(relation)) : null;
    if (chosen === null) continue;
    const values = chosen === '' ? [] : splitId(chosen);
    for (const [at, name] of relation.columns.entries()) form.set(inputName({ name }), values[at] ?? '');
  }
}

/**
 * The control of each field that is a foreign key, by field. `wholeKeys`: whether a key of several columns has a control,
 * at the first one, whose value `applyChoices` reads.
 */
export async function readLookups(
  described: CollectionDescription,
  fields: readonly InputRequestField[],
  problems: ReadonlyMap<string, string>,
  request: SignedInRequest,
  parts: Parts,
  wholeKeys = false,
): Promise<ReadonlyMap<string, Html>> {
  const controls = offeredRelations(described, fields, request).map(async (relation) => {
    const { name, to, columns, references } = relation;
    if (columns.length > 1 && !wholeKeys) return [];
    const own = columns.map((column) => fields.find((each) => each.name === column)!);
    const [field] = own;
    const target = parts.engine.describe(request.access, to);
    const key = references ?? target.key;
    if (!field || key.length !== columns.length) return [];
    const isOne = own.length === 1;
    const texts = own.map((each) => request.form.get(inputName(each)) ?? textOf(each.value));
    const whole = {
      ...field,
      label: name,
      required: own.some(({ required }) => required),
      ...(!isOne && { value: texts.every((text) => text === '') ? '' : packId(texts) }),
    };
    const problem = own.map((each) => problems.get(each.name)).find((each) => each !== undefined);
    const control = await readLookup(
      ...([whole, { ...target, key }, problem, request, parts] as const),
      isOne ? inputName(field) : choiceName(relation),
    );
    return control ? own.map((each, at) => [each.name, at === 0 ? control : html``] as const) : [];
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
