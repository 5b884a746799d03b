// Endpoints that write records. The response describes the written record. A record that is missing or not visible is
// an error, never a silent success. A delete of several records is atomic.
import type { WriteAnswer } from '../../agent/requests.ts';
import { printJson } from '../../agent/sources/lossless-json.ts';
import type { WriteVerb } from '../../core/caller.ts';
import { fail, isAppError } from '../../core/errors.ts';
import { checkPolicy, phrases, unapproved } from '../approval.ts';
import { readShown } from '../parameters.ts';
import {
  type Answer,
  answerDone,
  type DataCall,
  type DataRequest,
  dataRoute,
  metaOf,
  optionsOf,
  type Route,
} from '../route.ts';
import { describe } from '../visible-schema.ts';
import { readAttributes } from './body.ts';
import { writerOf } from './document.ts';
import { project } from './projection.ts';
import { type Resource, readResource, valuesOf } from './resource.ts';
import { readSelection, type Selection, selectIds } from './selection.ts';

/** The maximum number of records in one delete. */
export const DELETE_LIMIT = 500;

type Told = ReturnType<typeof readShown> & { readonly collection: string };

/**
 * Reads the written record again for the response. If that fails, the write is already done, and the response contains
 * the written values.
 */
async function answerWritten(
  written: WriteAnswer,
  { collection, shown, timezone }: Told,
  call: DataCall,
): Promise<Answer> {
  const { access, engine, signal, prefix } = call;
  const { ids, records } = written;
  const [id] = ids;
  const answer = { status: 200, recordIds: ids };
  const meta = metaOf(written);
  const plain = () => {
    const data = { type: collection, id: id ?? null, attributes: records[0] ?? {} };
    return { ...answer, body: { jsonapi: { version: '1.0' }, data, ...meta } };
  };
  if (id === undefined || !access.can('read', collection)) return plain();
  try {
    const projection = project(call, describe(call, collection), shown);
    const zone = timezone === undefined ? {} : { timezone };
    const { rows } = await engine.get(access, { collection, id, fields: projection.fields, ...zone }, { signal });
    const text = writerOf(projection, prefix).one(rows[0]);
    // JSON:API allows `meta` after the other members.
    return { ...answer, text: meta.meta ? `${text.slice(0, -1)},${printJson(meta).slice(1)}` : text };
  } catch (error) {
    if (isAppError(error)) return plain();
    throw error;
  }
}

interface WriteCall extends Told {
  readonly resource: Resource;
}

interface UpdateCall extends WriteCall {
  readonly id: string;
}

/** Checks the right before any lookup, and the requested fields before any write. */
function checkWrite(verb: WriteVerb, { collection, shown }: Told, call: DataCall): void {
  const description = describe(call, collection);
  needRight(verb, collection, call);
  project(call, description, shown);
}

/** Throws UNKNOWN_COLLECTION, FORBIDDEN or NEEDS_APPROVAL. */
function needRight(verb: WriteVerb, collection: string, call: DataCall): void {
  describe(call, collection);
  if (!call.access.can(verb, collection)) fail('FORBIDDEN', { verb: phrases[verb], collection });
  checkPolicy(call.access, verb, collection);
}

async function create(asked: WriteCall, call: DataCall): Promise<Answer> {
  const { collection, resource, timezone } = asked;
  checkWrite('add', asked, call);
  const access = unapproved(call.access);
  const record = await valuesOf(resource, collection, call);
  const request = { collection, records: [record], ...(timezone !== undefined && { timezone }) };
  const answer = await call.engine.create(access, request, optionsOf(call));
  return answerWritten(answer, asked, call);
}

async function update(asked: UpdateCall, call: DataCall): Promise<Answer> {
  const { collection, id, resource, timezone } = asked;
  checkWrite('edit', asked, call);
  const access = unapproved(call.access);
  const values = await valuesOf(resource, collection, call);
  const request = { collection, ids: [id], values, ...(timezone !== undefined && { timezone }) };
  const answer = await call.engine.update(access, request, optionsOf(call));
  return answerWritten(answer, asked, call);
}

const updateAt = (method: 'PUT' | 'PATCH'): Route =>
  dataRoute({
    method,
    path: '/:collection/:id',
    action: 'update',
    writes: true,
    parse(request: DataRequest): UpdateCall {
      const { collection, id } = request.params as Readonly<Record<'collection' | 'id', string>>;
      return { collection, id, resource: readResource(request.body, collection, id), ...readShown(request) };
    },
    subject: ({ collection, id }) => ({ collection, recordIds: [id] }),
    run: update,
  });

interface DeleteCall {
  readonly collection: string;
  readonly selection: Selection;
}

async function remove({ collection, selection }: DeleteCall, call: DataCall): Promise<Answer> {
  const access = unapproved(call.access);
  needRight('delete', collection, call);
  const ids = await selectIds(selection, { collection, most: DELETE_LIMIT }, call);
  const answer = await call.engine.delete(access, { collection, ids }, optionsOf(call));
  return { ...answerDone(answer), recordIds: ids };
}

export const recordRoutes: readonly Route[] = [
  dataRoute({
    method: 'POST',
    path: '/:collection',
    action: 'create',
    writes: true,
    parse(request: DataRequest): WriteCall {
      const collection = request.params.collection!;
      return { collection, resource: readResource(request.body, collection), ...readShown(request) };
    },
    subject: ({ collection }) => ({ collection }),
    run: create,
  }),
  updateAt('PUT'),
  updateAt('PATCH'),
  dataRoute({
    method: 'DELETE',
    path: '/:collection/:id',
    action: 'delete',
    writes: true,
    parse: ({ params }): DeleteCall => ({ collection: params.collection!, selection: { ids: [params.id!] } }),
    subject: ({ collection, selection: { ids } }) => ({ collection, recordIds: ids }),
    run: remove,
  }),
  dataRoute({
    method: 'DELETE',
    path: '/:collection',
    action: 'delete',
    writes: true,
    parse: ({ params, body }): DeleteCall => ({
      collection: params.collection!,
      selection: readSelection(readAttributes(body)),
    }),
    subject: ({ collection, selection: { ids } }) => ({ collection, ...(ids.length > 0 && { recordIds: ids }) }),
    run: remove,
  }),
];
