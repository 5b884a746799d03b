// Converts a search to a filter. Words (search-grammar.ts) are searched in every column that the caller sees, or in the
// field that they name. A search reveals nothing of hidden fields: `secret:x` is ordinary text for callers who may not
// see `secret`.
import { fail } from '../../core/errors.ts';
import type { Operator } from '../../core/filter.ts';
import type { Collection, Column, Field, Moment } from '../model/types.ts';
import type { Filter, Path } from '../plan/types.ts';
import { resolveName } from '../resolve/names.ts';
import type { CollectionView } from '../resolve/visibility.ts';
import { collectWords, parseSearch, type SearchExpression, type Word } from './search-grammar.ts';
import { findValue, findWord, fold } from './search-terms.ts';
import { join, never, not, or } from './simplify.ts';

const WORDS_LIMIT = 16;
const LENGTH_LIMIT = 1_000;

/** `extended` also searches to-one relations. INVALID_ARGUMENT for too many words. */
export function searchFilter(view: CollectionView, search: string, extended: boolean, moment: Moment): Filter {
  checkSearch(search);
  const sought = parseSearch(search);
  if (collectWords(sought).length > WORDS_LIMIT)
    fail('INVALID_ARGUMENT', { argument: 'search', problem: `at most ${WORDS_LIMIT} words can be searched for.` });
  const find = (each: SearchExpression): Filter => {
    if (each.op === 'not') return not(find(each.of));
    if (each.op !== 'word') return join(each.op === 'all' ? 'and' : 'or', each.of.map(find));
    return findNamed(view, each, moment) ?? findAnywhere(searchedPaths(view, extended), each, moment);
  };
  return find(sought);
}

/** INVALID_ARGUMENT for a text that is too long or contains NUL. */
export function checkSearch(search: string): void {
  if (typeof search === 'string' && search.length <= LENGTH_LIMIT && !search.includes('\0')) return;
  fail('INVALID_ARGUMENT', { argument: 'search', problem: `expected a string of at most ${LENGTH_LIMIT} characters.` });
}

function findAnywhere(paths: readonly Path[], { text }: Word, moment: Moment): Filter {
  return paths.length ? or(...paths.map((path) => findWord(path, text, moment))) : never;
}

function findNamed(view: CollectionView, { named, quoted }: Word, moment: Moment): Filter | undefined {
  for (const [field, value] of named) {
    const name = findName(view, field);
    if (name !== undefined) return findValue(resolveName(view, name).path, value, quoted, moment);
  }
  return undefined;
}

/** `orders.Placed_At` and `orders:placedat` name `orders:placed_at`. Undefined if no visible field matches. */
function findName({ visibility, collection: home }: CollectionView, text: string): string | undefined {
  const find = (collection: Collection, parts: readonly string[]): readonly string[] | undefined => {
    const fields = visibleFields(visibility, collection);
    const [first = '', ...rest] = parts;
    const named = fields.get(first) ? [first] : [...fields.keys()].filter((name) => fold(name) === fold(first));
    for (const name of fold(first) ? named : []) {
      const field = fields.get(name)!;
      if (field.kind === 'column' && rest.length === 0) return [name];
      if (field.kind !== 'one' || rest.length === 0) continue;
      const further = find(field.to, rest);
      if (further) return [name, ...further];
    }
    return undefined;
  };
  const parts = text.split(/[:.]/);
  return parts.length > MAX_PATH_SEGMENTS + 1 ? undefined : find(home, parts)?.join(':');
}

/** The maximum number of relations in a name (agent/resolve/names.ts). */
const MAX_PATH_SEGMENTS = 8;

const searchedPathsCache = new WeakMap<CollectionView, { own?: readonly Path[]; extended?: readonly Path[] }>();

function searchedPaths(view: CollectionView, extended: boolean): readonly Path[] {
  const known = searchedPathsCache.get(view) ?? {};
  searchedPathsCache.set(view, known);
  known.own ??= distinct(pathsOf(view, '', view.collection));
  if (extended) known.extended ??= distinct([...known.own, ...relatedPaths(view)]);
  return known.extended && extended ? known.extended : known.own;
}

function relatedPaths(view: CollectionView): Path[] {
  return [...view.visibility.fields(view.collection)].flatMap(([name, field]) => {
    if (field.kind !== 'one' || !view.relations.includes(field)) return [];
    return pathsOf(view, `${name}:`, field.to);
  });
}

function visibleFields(visibility: CollectionView['visibility'], collection: Collection): ReadonlyMap<string, Field> {
  return new Map([...visibility.fields(collection)].filter(([, field]) => visibility.canSee(collection, field)));
}

function distinct(paths: readonly Path[]): readonly Path[] {
  return [...new Map(paths.map((path) => [path.id, path])).values()];
}

function pathsOf(view: CollectionView, prefix: string, collection: Collection): Path[] {
  const { visibility } = view;
  return [...visibleFields(visibility, collection)].flatMap(([name, field]) =>
    field.kind === 'column' && !visibility.isNamedOnly(collection, field) && isSearched(field)
      ? [resolveName(view, `${prefix}${name}`).path]
      : [],
  );
}

/** The operators that `findWord` needs, by type. Columns of other types are searched only by name. */
const neededOperators: { readonly [T in string]?: readonly Operator[] } = {
  Enum: ['In'],
  Number: ['Equal'],
  Uuid: ['Equal'],
  Boolean: ['Equal'],
  Date: ['GreaterThanOrEqual', 'LessThan'],
  Dateonly: ['GreaterThanOrEqual', 'LessThan'],
};

/** False if the operator is emulated, which reads every record, and for a parameter. A search by field name uses it. */
function isSearched(column: Column): boolean {
  const { type, operators, parameter } = column;
  if (parameter) return false;
  if (typeof type !== 'string') return isNative(column, 'IncludesAll');
  if (type === 'String') {
    const is = (['IContains', 'Contains', 'Equal'] as const).find((each) => operators.has(each));
    return is !== undefined && isNative(column, is);
  }
  return neededOperators[type]?.every((operator) => isNative(column, operator)) ?? false;
}

function isNative({ operators }: Column, operator: Operator): boolean {
  const by = operators.get(operator)?.evaluatedBy;
  if (by === undefined || by === 'here') return false;
  return (
    typeof by !== 'object' ||
    !('toCondition' in by) ||
    ![...operators.values()].some((answer) => answer.evaluatedBy === 'here')
  );
}
