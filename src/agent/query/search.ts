// What a search means: every word must be found in some column, a "quoted phrase" is one word, and -word must be found
// in none. A word is looked for inside texts, ignoring case, and equals numbers, UUIDs and enum values when it reads as
// one. Only columns that the caller sees are searched, so that a search tells nothing of hidden ones.
import { fail } from '../../core/errors.ts';
import type { Operator } from '../../core/filter.ts';
import type { Collection, Column, Field } from '../model/types.ts';
import { resolveName } from './resolve.ts';
import { always, and, never, not, or } from './simplify.ts';
import type { Filter, Path } from './types.ts';
import { readNumber, readUuid } from './values.ts';
import type { View } from './view.ts';

const WORDS_LIMIT = 16;
const LENGTH_LIMIT = 1_000;

interface Word {
  readonly text: string;
  readonly wanted: boolean;
}

/** `extended` searches the to-one relations as well. INVALID_ARGUMENT when there are too many words. */
export function searchFilter(view: View, search: string, extended: boolean): Filter {
  checkSearch(search);
  const words = readWords(search);
  if (words.length > WORDS_LIMIT)
    fail('INVALID_ARGUMENT', { argument: 'search', problem: `at most ${WORDS_LIMIT} words can be searched for.` });
  if (words.length === 0) return always;
  const paths = searchedPaths(view, extended);
  if (paths.length === 0) return never;
  return and(
    ...words.map(({ text, wanted }) => {
      const found = or(...paths.map((path) => findWord(path, text)));
      return wanted ? found : not(found);
    }),
  );
}

/** INVALID_ARGUMENT. */
export function checkSearch(search: string): void {
  if (typeof search === 'string' && search.length <= LENGTH_LIMIT && !search.includes('\0')) return;
  fail('INVALID_ARGUMENT', { argument: 'search', problem: `expected a text of at most ${LENGTH_LIMIT} characters.` });
}

function readWords(search: string): Word[] {
  const words: Word[] = [];
  for (const [, minus, phrase, bare] of search.matchAll(/(?<!\S)(-?)(?:"([^"]*)"?|(\S+))/g)) {
    const text = (phrase ?? bare ?? '').trim();
    if (text) words.push({ text, wanted: minus === '' });
  }
  return words;
}

const searched = new WeakMap<View, { own?: readonly Path[]; extended?: readonly Path[] }>();

function searchedPaths(view: View, extended: boolean): readonly Path[] {
  const known = searched.get(view) ?? {};
  searched.set(view, known);
  known.own ??= distinct(pathsOf(view, '', seenFields(view, view.collection)));
  if (extended) known.extended ??= distinct([...known.own, ...relatedPaths(view)]);
  return known.extended && extended ? known.extended : known.own;
}

function relatedPaths(view: View): Path[] {
  return [...view.sight.fields(view.collection)].flatMap(([name, field]) => {
    if (field.kind !== 'one' || !view.relations.includes(field)) return [];
    return pathsOf(view, `${name}:`, seenFields(view, field.to));
  });
}

function seenFields({ sight }: View, collection: Collection): (readonly [name: string, field: Field])[] {
  return [...sight.fields(collection)].filter(([, field]) => sight.sees(collection, field));
}

function distinct(paths: readonly Path[]): readonly Path[] {
  return [...new Map(paths.map((path) => [path.id, path])).values()];
}

function pathsOf(view: View, prefix: string, fields: readonly (readonly [name: string, field: Field])[]): Path[] {
  return fields.flatMap(([name, field]) =>
    field.kind === 'column' && isSearched(field) ? [resolveName(view, `${prefix}${name}`).path] : [],
  );
}

/** Never what would have every record read: an emulated operator is for those who ask for it. */
function isSearched(column: Column): boolean {
  const { type } = column;
  if (type === 'String') return isAsked(column, 'IContains');
  if (type === 'Enum') return isAsked(column, 'In');
  return (type === 'Number' || type === 'Uuid') && isAsked(column, 'Equal');
}

function isAsked({ operators }: Column, operator: Operator): boolean {
  const by = operators.get(operator)?.by;
  if (by === undefined || by === 'here') return false;
  return typeof by !== 'object' || !('say' in by) || ![...operators.values()].some((answer) => answer.by === 'here');
}

function findWord(path: Path, word: string): Filter {
  const { type, enumValues = [] } = path.field;
  const equal = (value: unknown): Filter => (value === undefined ? never : { op: 'test', path, is: 'Equal', value });
  switch (type) {
    case 'String':
      return { op: 'test', path, is: 'IContains', value: word };
    case 'Number':
      return equal(readNumber(word));
    case 'Uuid':
      return equal(readUuid(word));
    default: {
      const folded = fold(word);
      const values = folded ? enumValues.filter((value) => fold(value) === folded) : [];
      return values.length ? { op: 'test', path, is: 'In', value: values } : never;
    }
  }
}

/** `in-progress`, `In Progress` and `in_progress` are one word. */
function fold(text: string): string {
  return text.toLowerCase().replace(/[\s_-]/g, '');
}
