// Reads the builder's form: the rows, and the button that was pressed. Each change of the rows is a request, so the
// builder works without scripts.
import { findInexactNumber } from '../../../core/filter/exact-numbers.ts';
import type { PlainFilter } from '../../../core/filter.ts';
import { type Describe, findField, findRelations } from './fields.ts';
import {
  type Condition,
  collectionOf,
  type Group,
  type GroupKind,
  isOperator,
  isQuantifier,
  MAX_ROWS,
  type Rows,
} from './state.ts';

/** Whether the query or form has rows of the builder. */
export const hasRows = (form: URLSearchParams): boolean => form.has('match');

/** The part of a form that belongs to the builder with the prefix. */
export function partOf(form: URLSearchParams, prefix: string): URLSearchParams {
  const part = new URLSearchParams();
  for (const [name, value] of form) {
    if (name === 'do') value.startsWith(prefix) && part.append(name, value.slice(prefix.length));
    else if (name.startsWith(prefix)) part.append(name.slice(prefix.length), value);
  }
  return part;
}

/** The rows with the change of the pressed button. */
export function readRows(form: URLSearchParams, describe: Describe, collection: string): Rows {
  const kinds = form
    .getAll('kind')
    .slice(0, MAX_ROWS)
    .filter((kind) => isGroupKind(kind, describe, collection)) as GroupKind[];
  const [action = '', target = ''] = (form.get('do') ?? '').split(':');
  const top: Condition[] = [];
  const inGroups: Condition[][] = kinds.map(() => []);
  for (let at = 0; at < MAX_ROWS && form.has(`c.${at}.field`); at++) {
    if (action === 'remove' && target === `${at}`) continue;
    const group = form.get(`c.${at}.group`) ?? '';
    const condition = readCondition(form, `c.${at}`);
    const home = group === '' ? top : inGroups[Number(group)];
    if (condition) home?.push(condition);
  }
  // A chosen field counts even if another button was pressed.
  const added = (name: string, of: string | undefined): readonly Condition[] => {
    const field = form.get(name) ?? '';
    const created = field !== '' && of !== undefined ? newCondition(describe, of, field) : undefined;
    return created ? [created] : [];
  };
  const groups = kinds.map(
    (kind, at): Group => ({
      kind,
      conditions: [...inGroups[at]!, ...added(`add.${at}`, collectionOf(kind, describe, collection))],
    }),
  );
  const newKind = form.get('group') ?? '';
  const withNew = isGroupKind(newKind, describe, collection) ? [...groups, { kind: newKind, conditions: [] }] : groups;
  return {
    match: form.get('match') === 'Or' ? 'Or' : 'And',
    conditions: [...top, ...added('add', collection)],
    groups: withNew.filter((_, at) => !(action === 'remove-group' && target === `${at}`)),
  };
}

function isGroupKind(kind: string, describe: Describe, collection: string): kind is GroupKind {
  if (kind === 'And' || kind === 'Or') return true;
  const [quantifier, relation] = kind.split(/:(.*)/s);
  return isQuantifier(quantifier) && findRelations(describe, collection).some(({ name }) => name === relation);
}

function readCondition(form: URLSearchParams, name: string): Condition | undefined {
  const field = form.get(`${name}.field`) ?? '';
  const operator = form.get(`${name}.operator`) ?? '';
  if (field === '' || !isOperator(operator)) return undefined;
  // A list without choices is a text area with one value on each line.
  const values = form.getAll(`${name}.value`).flatMap((text) => text.split(/\r?\n/));
  return {
    field,
    operator,
    values: values.filter((text) => text !== ''),
    variable: form.get(`${name}.variable`) ?? '',
  };
}

const firstChoice: Readonly<Record<string, string>> = { String: 'IContains', Date: 'After', Dateonly: 'After' };

/** A condition on the field without a value, with the operator that people need most. */
function newCondition(describe: Describe, collection: string, path: string): Condition | undefined {
  const field = findField(describe, collection, path);
  const usual = field?.operators.find((each) => each === (firstChoice[field.type] ?? 'Equal'));
  const operator = usual ?? field?.operators[0];
  return operator && { field: path, operator, values: [], variable: '' };
}

/** Reads the JSON of a filter. The caller checks its names. */
export function readJsonFilter(text: string): { readonly filter?: PlainFilter } | { readonly problem: string } {
  if (text.trim() === '') return {};
  const inexact = findInexactNumber(text);
  if (inexact !== undefined) return { problem: inexact };
  try {
    const filter: unknown = JSON.parse(text);
    if (typeof filter === 'object' && filter !== null && !Array.isArray(filter))
      return { filter: filter as PlainFilter };
    return { problem: 'A filter is an object, such as {"field": "status", "operator": "Equal", "value": "paid"}.' };
  } catch (error) {
    return { problem: `Invalid JSON: ${(error as Error).message}` };
  }
}
