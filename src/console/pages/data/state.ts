// What a list of records shows, in the query of its URL: columns, order, filter, segment, search and page. Links change
// one part and keep the others. The filter is JSON in links, and rows of the builder in the form.
import type { CollectionDescription } from '../../../agent/requests.ts';
import type { PlainFilter, PlainSort } from '../../../core/filter.ts';
import { dataPage } from '../../paths.ts';
import type { Describe } from '../../ui/filter/fields.ts';
import { hasRows, readJsonFilter, readRows } from '../../ui/filter/form.ts';
import { noRows, type Rows, toFilter, toRows } from '../../ui/filter/state.ts';

/** The record whose related records are listed. */
interface Parent {
  readonly collection: string;
  readonly id: string;
  readonly relation: string;
}

export interface ListState {
  readonly collection: string;
  readonly parent: Parent | undefined;
  readonly columns: readonly string[];
  readonly sort: PlainSort | undefined;
  readonly segment: string;
  readonly search: string;
  readonly filter: PlainFilter | undefined;
  /** Undefined if the builder cannot show the filter. */
  readonly rows: Rows | undefined;
  /** The filter as text, for the JSON editor. */
  readonly json: string;
  readonly isJson: boolean;
  /** Problem of the typed JSON. */
  readonly problem: string | undefined;
  readonly cursor: string;
  /** Cursors of the earlier pages, the first page without one. */
  readonly trail: readonly string[];
}

const MAX_TRAIL_CHARACTERS = 2000;

export function readState(query: URLSearchParams, collection: string, describe: Describe): ListState {
  const text = (name: string, maxLength = 400) => (query.get(name) ?? '').replaceAll('\0', '').slice(0, maxLength);
  const sorted = text('sort');
  const [of, record, relation] = [text('of'), text('record'), text('relation')];
  return {
    collection,
    parent: of && record && relation ? { collection: of, id: record, relation } : undefined,
    columns: query.getAll('col'),
    sort: sorted === '' ? undefined : { field: sorted.replace(/^-/, ''), ascending: !sorted.startsWith('-') },
    segment: text('segment'),
    search: text('search').trim(),
    ...readFilter(query, collection, describe),
    cursor: text('cursor', 4000),
    trail: text('trail', MAX_TRAIL_CHARACTERS).split('.').filter(Boolean),
  };
}

function readFilter(query: URLSearchParams, collection: string, describe: Describe) {
  const wanted = query.get('do');
  if (hasRows(query) && wanted !== 'rows') {
    const rows = readRows(query, describe, collection);
    const filter = toFilter(rows, describe, collection);
    const json = filter === undefined ? '' : JSON.stringify(filter, null, 2);
    return { filter, rows, json, isJson: wanted === 'json', problem: undefined };
  }
  const json = query.get('filter') ?? '';
  const read = readJsonFilter(json);
  if ('problem' in read) return { filter: undefined, rows: noRows, json, isJson: true, problem: read.problem };
  const { filter } = read;
  const rows = safeRows(filter, describe, collection);
  const isJson = rows === undefined || (query.get('mode') === 'json' && wanted !== 'rows');
  return { filter, rows, json: pretty(json), isJson, problem: undefined };
}

/** A filter of the wrong shape is refused by the engine, not by the builder. */
function safeRows(filter: PlainFilter | undefined, describe: Describe, collection: string): Rows | undefined {
  try {
    return toRows(filter, describe, collection);
  } catch {
    return undefined;
  }
}

/** The part of a request that decides which records are listed. */
export const conditionsOf = (
  { filter, segment, search }: Pick<ListState, 'filter' | 'segment' | 'search'>,
  { searchable }: CollectionDescription,
) => ({
  ...(filter && { filter }),
  ...(segment !== '' && { segment }),
  ...(search !== '' && searchable && { search }),
});

const pretty = (json: string): string => (json.trim() === '' ? '' : JSON.stringify(JSON.parse(json), null, 2));

type Change = Partial<
  Pick<ListState, 'columns' | 'sort' | 'segment' | 'search' | 'filter' | 'cursor' | 'trail' | 'isJson'>
>;

/** The query of the list with one part changed. A change other than of the page leads to the first page. */
export function queryOf(state: ListState, change: Change = {}): URLSearchParams {
  const next = { ...state, cursor: '', trail: [], ...change };
  const query = new URLSearchParams();
  const set = (name: string, value: string) => value !== '' && query.set(name, value);
  if (next.parent) {
    set('of', next.parent.collection);
    set('record', next.parent.id);
    set('relation', next.parent.relation);
  }
  for (const column of next.columns) query.append('col', column);
  if (next.sort) set('sort', `${next.sort.ascending === false ? '-' : ''}${next.sort.field}`);
  set('segment', next.segment);
  set('search', next.search);
  if (next.filter) set('filter', JSON.stringify(next.filter));
  if (next.isJson) set('mode', 'json');
  set('cursor', next.cursor);
  let trail = next.trail;
  while (trail.join('.').length > MAX_TRAIL_CHARACTERS) trail = trail.slice(1);
  set('trail', trail.join('.'));
  return query;
}

/** Page of the list, with the query. */
export function listPage(state: ListState, change: Change = {}): string {
  const query = queryOf(state, change);
  return `${dataPage(state.collection)}${query.size > 0 ? `?${query}` : ''}`;
}
