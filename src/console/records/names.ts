// Names of records and links to their pages. A name is the value of the display field, read with the viewer's Access: a
// record or field that is hidden from the viewer gives no name and no link.
import { packId, splitId } from '../../agent/encode/record-id.ts';
import { isAppError } from '../../core/errors.ts';
import type { PlainFilter } from '../../core/filter.ts';
import { type Html, html } from '../../http/html.ts';
import type { Parts, SignedInRequest } from '../page-request.ts';
import { recordPage } from '../paths.ts';

interface RecordRef {
  readonly collection: string;
  /** Packed. */
  readonly id: string;
}

export interface RecordNames {
  /** The name of the record; the id if it has none that the viewer may see. */
  name(collection: string, id: string): string;
  /** Whether the viewer can open the record. */
  isKnown(collection: string, id: string): boolean;
  /** The name as a link to the record's page; text if the viewer cannot open it. */
  link(collection: string, id: string): Html;
}

/** One page names at most this many records of a collection. */
const MAX_NAMED = 200;
const MAX_NAME_CHARACTERS = 80;

type NameParts = Pick<Parts, 'engine' | 'paths'>;

/** Reads the names with one statement for each collection. Failed reads leave the ids. */
export async function readNames(
  { access, signal }: Pick<SignedInRequest, 'access' | 'signal'>,
  { engine, paths }: NameParts,
  records: readonly RecordRef[],
): Promise<RecordNames> {
  const names = new Map<string, ReadonlyMap<string, string>>();
  const collections = [...new Set(records.map(({ collection }) => collection))].filter(
    (name) => access.can('browse', name) && access.can('read', name),
  );
  await Promise.all(
    collections.map(async (collection) => {
      const ids = new Set(records.filter((each) => each.collection === collection).map(({ id }) => id));
      names.set(collection, await readCollection(collection, [...ids].slice(0, MAX_NAMED)));
    }),
  );

  async function readCollection(collection: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    try {
      const { key, displayField } = engine.describe(access, collection);
      // Do not let users probe the values of a key that is hidden from them.
      if (key.length === 0) return new Map();
      const fields = [...key, ...(displayField === undefined ? [] : [displayField])];
      const request = { collection, fields, filter: idsFilter(key, ids), limit: ids.length };
      const { rows } = await engine.list(access, request, { signal });
      return new Map(
        rows.map((row) => {
          const id = packId(row.slice(0, key.length));
          return [id, shortName(displayField === undefined ? null : row[key.length]) ?? id];
        }),
      );
    } catch (error) {
      // One id that does not fit the key must not hide the names of the others.
      if (!isAppError(error) || error.status >= 500 || ids.length === 1) return new Map();
      const each = await Promise.all(ids.map((id) => readCollection(collection, [id])));
      return new Map(each.flatMap((found) => [...found]));
    }
  }

  const found = (collection: string, id: string) => names.get(collection)?.get(id);
  return {
    name: (collection, id) => found(collection, id) ?? id,
    isKnown: (collection, id) => found(collection, id) !== undefined,
    link(collection, id) {
      const name = found(collection, id);
      return name === undefined ? html`${id}` : html`<a href="${paths.path(recordPage(collection, id))}">${name}</a>`;
    },
  };
}

/** A value as the name of a record; undefined if it names nothing. */
export function shortName(value: unknown): string | undefined {
  if (value === null || value === undefined || typeof value === 'object') return undefined;
  const text = String(value).replace(/\s+/g, ' ').trim();
  if (text === '') return undefined;
  const characters = [...text];
  return characters.length <= MAX_NAME_CHARACTERS ? text : `${characters.slice(0, MAX_NAME_CHARACTERS - 1).join('')}…`;
}

/** Selects records by their packed ids. */
export function idsFilter(key: readonly string[], ids: readonly string[]): PlainFilter {
  if (key.length === 1) return { field: key[0]!, operator: 'In', value: ids };
  const conditions = ids.map((id): PlainFilter => {
    const values = splitId(id);
    return {
      aggregator: 'And',
      conditions: key.map((field, at) => ({ field, operator: 'Equal', value: values[at] ?? null })),
    };
  });
  return { aggregator: 'Or', conditions };
}
