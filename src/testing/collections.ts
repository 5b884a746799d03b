// Clients for a collection, a segment and the records of a relation, over the agent's HTTP API.
import type { RecordId } from '../agent/encode/record-id.ts';
import { fail } from '../core/errors.ts';
import { idListOf, idsOf, loadActionForm } from './action-forms.ts';
import { createChartReaders } from './charts.ts';
import { type Connection, failureOf } from './connection.ts';
import { identify, type PlainRecord, type RecordDocument, readRecords, writeRecord } from './documents.ts';
import { packRecordId, pathOf, type QueryOptions, selectionBody, writeQuery } from './queries.ts';
import type { Schema } from './schema.ts';
import type { ActionTarget, Capabilities, CollectionClient, RecordIds, RelationClient } from './typed-client.ts';

interface ClientContext {
  readonly connection: Connection;
  readonly schema: Schema;
  /** IANA name. */
  readonly timezone: string;
}

type Plain = Record<string, never>;
interface CsvQuery extends QueryOptions {
  readonly header?: readonly string[];
  readonly filename?: string;
}

/** `foreign`: the collection of the records. `fixed` overrides the options of every request. */
function createLister(
  { connection, timezone }: ClientContext,
  path: string,
  collection: string,
  fixed: QueryOptions = {},
) {
  return {
    async list(options: QueryOptions = {}): Promise<PlainRecord[]> {
      const request = writeQuery(collection, { ...options, ...fixed }, timezone);
      return readRecords(await connection.request<RecordDocument>('GET', path, request), options.fields);
    },
    async count(options: QueryOptions = {}): Promise<number | null> {
      const request = writeQuery(collection, { ...options, ...fixed }, timezone);
      const { count } = await connection.request<{ readonly count?: number }>('GET', `${path}/count`, request);
      return count ?? null;
    },
    async exportCsv({ header, filename, ...options }: CsvQuery = {}): Promise<string> {
      const { query, headers } = writeQuery(collection, { ...options, ...fixed }, timezone);
      if (header) query.set('header', JSON.stringify(header));
      if (filename !== undefined) query.set('filename', filename);
      const reply = await connection.send('GET', `${path}.csv`, { query, headers });
      if (reply.status !== 200) throw failureOf(`GET ${path}.csv`, reply);
      return reply.bytes.toString('utf8');
    },
  };
}

export function createCollectionClient(context: ClientContext, name: string): CollectionClient<Plain, string> {
  const { connection, schema, timezone } = context;
  const path = pathOf(schema.collection(name).name);
  const lister = createLister(context, path, name);
  const timezoneQuery = () => new URLSearchParams({ timezone });
  const one = (document: RecordDocument, fields?: readonly string[]): PlainRecord =>
    readRecords(document, fields)[0] ?? {};

  return {
    ...lister,
    ...createChartReaders((chart, id: RecordId) =>
      readChart(connection, pathOf('_charts', name, chart), { timezone, record_id: packRecordId(id) }),
    ),
    search: (text: string, options: QueryOptions = {}) => lister.list({ ...options, search: text }),
    async get(id: RecordId, options: Pick<QueryOptions, 'fields'> = {}) {
      const request = writeQuery(name, options, timezone);
      return one(await connection.request('GET', path + pathOf(packRecordId(id)), request), options.fields);
    },
    async create(values: PlainRecord) {
      return one(
        await connection.request('POST', path, { query: timezoneQuery(), body: writeRecord(schema, name, values) }),
      );
    },
    async update(id: RecordId, values: PlainRecord) {
      const body = writeRecord(schema, name, values, id);
      return one(await connection.request('PUT', path + pathOf(packRecordId(id)), { query: timezoneQuery(), body }));
    },
    async delete(ids: RecordIds) {
      await connection.request('DELETE', path, { query: timezoneQuery(), body: selectionBody(idListOf(ids)) });
    },
    async capabilities() {
      const body = { collectionNames: [name] };
      const answer = await connection.request<{ readonly collections: readonly Capabilities[] }>(
        'POST',
        '/_internal/capabilities',
        { query: timezoneQuery(), body },
      );
      return answer.collections[0]!;
    },
    segment: (segment: string) => createLister(context, path, name, { segment }),
    relation: (relation: string, id: RecordId) => createRelationClient(context, name, relation, id),
    action(action: string, target?: ActionTarget) {
      const { endpoint } = schema.action(name, action);
      // The part before `/_actions/` is the prefix, which the connection's address already includes.
      const at = endpoint.slice(endpoint.lastIndexOf('/_actions/'));
      const ids = idsOf(target);
      return loadActionForm({ connection, collection: name, name: action, path: at, query: timezoneQuery(), ids });
    },
  } as unknown as CollectionClient<Plain, string>;
}

function createRelationClient(
  context: ClientContext,
  collection: string,
  name: string,
  id: RecordId,
): RelationClient<Plain, string> {
  const { connection, schema, timezone } = context;
  const { target: targetCollection, isMany } = schema.relation(collection, name);
  const path = pathOf(collection, packRecordId(id), 'relationships', name);
  const requireKind = (many: boolean, call: string) => {
    if (isMany === many) return;
    const problem = isMany
      ? `${call} is for relations to one record; '${name}' of '${collection}' leads to many: use associate and dissociate.`
      : `${call} is for relations to many records; '${name}' of '${collection}' leads to one: use set, and read it with fields such as '${name}:...'.`;
    fail('CONFIGURATION', { problem });
  };
  const lister = createLister(context, path, targetCollection);
  const timezoneQuery = (query: Readonly<Record<string, string>> = {}) => new URLSearchParams({ timezone, ...query });
  const toManyOnly =
    <Args extends readonly unknown[], Answer>(call: string, run: (...args: Args) => Promise<Answer>) =>
    async (...args: Args): Promise<Answer> => {
      requireKind(true, call);
      return run(...args);
    };
  return {
    list: toManyOnly('list', lister.list),
    count: toManyOnly('count', lister.count),
    exportCsv: toManyOnly('exportCsv', lister.exportCsv),
    associate: toManyOnly('associate', async (ids: RecordIds) => {
      const data = idListOf(ids).map((one) => ({ type: targetCollection, id: one }));
      await connection.request('POST', path, { query: timezoneQuery(), body: { data } });
    }),
    dissociate: toManyOnly('dissociate', async (ids: RecordIds) => {
      await connection.request('DELETE', path, { query: timezoneQuery(), body: selectionBody(idListOf(ids)) });
    }),
    delete: toManyOnly('delete', async (ids: RecordIds) => {
      await connection.request('DELETE', path, {
        query: timezoneQuery({ delete: 'true' }),
        body: selectionBody(idListOf(ids)),
      });
    }),
    async set(target: RecordId | null) {
      requireKind(false, 'set');
      await connection.request('PUT', path, {
        query: timezoneQuery(),
        body: { data: identify(schema, targetCollection, target) },
      });
    },
  } as unknown as RelationClient<Plain, string>;
}

/** The response is `{data: {type: 'stats', attributes: {value}}}`. */
export async function readChart(
  connection: Connection,
  path: string,
  body: Readonly<Record<string, string>>,
): Promise<unknown> {
  const answer = await connection.request<{ readonly data?: { readonly attributes?: { readonly value?: unknown } } }>(
    'POST',
    path,
    { body },
  );
  return answer.data?.attributes?.value;
}
