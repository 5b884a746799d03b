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

export interface ClientPlace {
  readonly connection: Connection;
  readonly schema: Schema;
  /** IANA name. */
  readonly timezone: string;
}

type Plain = Record<string, never>;
interface CsvWish extends QueryOptions {
  readonly header?: readonly string[];
  readonly filename?: string;
}

/** `foreign`: the collection of the records. `fixed` overrides the options of every request. */
function createLister({ connection, timezone }: ClientPlace, path: string, foreign: string, fixed: QueryOptions = {}) {
  return {
    async list(options: QueryOptions = {}): Promise<PlainRecord[]> {
      const asked = writeQuery(foreign, { ...options, ...fixed }, timezone);
      return readRecords(await connection.ask<RecordDocument>('GET', path, asked), options.fields);
    },
    async count(options: QueryOptions = {}): Promise<number | null> {
      const asked = writeQuery(foreign, { ...options, ...fixed }, timezone);
      const { count } = await connection.ask<{ readonly count?: number }>('GET', `${path}/count`, asked);
      return count ?? null;
    },
    async exportCsv({ header, filename, ...options }: CsvWish = {}): Promise<string> {
      const { query, headers } = writeQuery(foreign, { ...options, ...fixed }, timezone);
      if (header) query.set('header', JSON.stringify(header));
      if (filename !== undefined) query.set('filename', filename);
      const reply = await connection.send('GET', `${path}.csv`, { query, headers });
      if (reply.status !== 200) throw failureOf(`GET ${path}.csv`, reply);
      return reply.bytes.toString('utf8');
    },
  };
}

export function createCollectionClient(place: ClientPlace, name: string): CollectionClient<Plain, string> {
  const { connection, schema, timezone } = place;
  const path = pathOf(schema.collection(name).name);
  const lister = createLister(place, path, name);
  const zoned = () => new URLSearchParams({ timezone });
  const one = (document: RecordDocument, fields?: readonly string[]): PlainRecord =>
    readRecords(document, fields)[0] ?? {};

  return {
    ...lister,
    ...createChartReaders((chart, id: RecordId) =>
      readChart(connection, pathOf('_charts', name, chart), { timezone, record_id: packRecordId(id) }),
    ),
    search: (text: string, options: QueryOptions = {}) => lister.list({ ...options, search: text }),
    async get(id: RecordId, options: Pick<QueryOptions, 'fields'> = {}) {
      const asked = writeQuery(name, options, timezone);
      return one(await connection.ask('GET', path + pathOf(packRecordId(id)), asked), options.fields);
    },
    async create(values: PlainRecord) {
      return one(await connection.ask('POST', path, { query: zoned(), body: writeRecord(schema, name, values) }));
    },
    async update(id: RecordId, values: PlainRecord) {
      const body = writeRecord(schema, name, values, id);
      return one(await connection.ask('PUT', path + pathOf(packRecordId(id)), { query: zoned(), body }));
    },
    async delete(ids: RecordIds) {
      await connection.ask('DELETE', path, { query: zoned(), body: selectionBody(idListOf(ids)) });
    },
    async capabilities() {
      const body = { collectionNames: [name] };
      const answer = await connection.ask<{ readonly collections: readonly Capabilities[] }>(
        'POST',
        '/_internal/capabilities',
        { query: zoned(), body },
      );
      return answer.collections[0]!;
    },
    segment: (segment: string) => createLister(place, path, name, { segment }),
    relation: (relation: string, id: RecordId) => createRelationClient(place, name, relation, id),
    action(action: string, target?: ActionTarget) {
      const { endpoint } = schema.action(name, action);
      // The part before `/_actions/` is the prefix, which the connection's address already includes.
      const at = endpoint.slice(endpoint.lastIndexOf('/_actions/'));
      const ids = idsOf(target);
      return loadActionForm({ connection, collection: name, name: action, path: at, query: zoned(), ids });
    },
  } as unknown as CollectionClient<Plain, string>;
}

function createRelationClient(
  place: ClientPlace,
  collection: string,
  name: string,
  id: RecordId,
): RelationClient<Plain, string> {
  const { connection, schema, timezone } = place;
  const { foreign, isMany } = schema.relation(collection, name);
  const path = pathOf(collection, packRecordId(id), 'relationships', name);
  const wants = (many: boolean, call: string) => {
    if (isMany === many) return;
    const problem = isMany
      ? `${call} is for relations to one record; '${name}' of '${collection}' leads to many: use associate and dissociate.`
      : `${call} is for relations to many records; '${name}' of '${collection}' leads to one: use set, and read it with fields such as '${name}:...'.`;
    fail('CONFIGURATION', { problem });
  };
  const lister = createLister(place, path, foreign);
  const asking = (query: Readonly<Record<string, string>> = {}) => new URLSearchParams({ timezone, ...query });
  const lists =
    <Given extends readonly unknown[], Answer>(call: string, run: (...given: Given) => Promise<Answer>) =>
    async (...given: Given): Promise<Answer> => {
      wants(true, call);
      return run(...given);
    };
  return {
    list: lists('list', lister.list),
    count: lists('count', lister.count),
    exportCsv: lists('exportCsv', lister.exportCsv),
    associate: lists('associate', async (ids: RecordIds) => {
      const data = idListOf(ids).map((one) => ({ type: foreign, id: one }));
      await connection.ask('POST', path, { query: asking(), body: { data } });
    }),
    dissociate: lists('dissociate', async (ids: RecordIds) => {
      await connection.ask('DELETE', path, { query: asking(), body: selectionBody(idListOf(ids)) });
    }),
    delete: lists('delete', async (ids: RecordIds) => {
      await connection.ask('DELETE', path, { query: asking({ delete: 'true' }), body: selectionBody(idListOf(ids)) });
    }),
    async set(target: RecordId | null) {
      wants(false, 'set');
      await connection.ask('PUT', path, { query: asking(), body: { data: identify(schema, foreign, target) } });
    },
  } as unknown as RelationClient<Plain, string>;
}

/** The response is `{data: {type: 'stats', attributes: {value}}}`. */
export async function readChart(
  connection: Connection,
  path: string,
  body: Readonly<Record<string, string>>,
): Promise<unknown> {
  const answer = await connection.ask<{ readonly data?: { readonly attributes?: { readonly value?: unknown } } }>(
    'POST',
    path,
    { body },
  );
  return answer.data?.attributes?.value;
}
