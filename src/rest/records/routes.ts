// Endpoints that write records. The response describes the written record. A record that is missing or not visible is
// an error, never a silent success. A delete of several records is atomic.
import type { WriteAnswer } from '../../agent/requests.ts';
import { stringifyJson } from '../../agent/sources/lossless-json.ts';
import type { WriteVerb } from '../../core/caller.ts';
import { fail, isAppError } from '../../core/errors.ts';
import { checkPolicy, verbPhrases, withApprovalCheck } from '../approval.ts';
import { readFieldSelection } from '../parameters.ts';
import {
  type Answer,
  type AnyDataRoute,
  type DataCall,
  type DataRequest,
  dataRoute,
  respondDone,
  toCallOptions,
  toMeta,
} from '../route.ts';
import { describe } from '../visible-schema.ts';
import { readAttributes } from './body.ts';
import { writerOf } from './document.ts';
import { project } from './projection.ts';
import { parseResource, type Resource, toValues } from './resource.ts';
import { parseSelection, type Selection, selectIds } from './selection.ts';

/** The maximum number of records in one delete. */
export const MAX_DELETED_RECORDS = 500;

type ResponseFields = ReturnType<typeof readFieldSelection> & { readonly collection: string };

/**
 * Reads the written record again for the response. If that fails, the write is already done, and the response contains
 * the written values.
 */
async function respondWritten(
  written: WriteAnswer,
  { collection, selection, timezone }: ResponseFields,
  call: DataCall,
): Promise<Answer> {
  const { access, engine, signal, prefix } = call;
  const { ids, records } = written;
  const [id] = ids;
  const answer = { status: 200, recordIds: ids };
  const meta = toMeta(written);
  const withoutReading = () => {
    const data = { type: collection, id: id ?? null, attributes: records[0] ?? {} };
    return { ...answer, body: { jsonapi: { version: '1.0' }, data, ...meta } };
  };
  if (id === undefined || !access.can('read', collection)) return withoutReading();
  try {
    const projection = project(call, describe(call, collection), selection);
    const zone = timezone === undefined ? {} : { timezone };
    const { rows } = await engine.get(access, { collection, id, fields: projection.fields, ...zone }, { signal });
    const text = writerOf(projection, prefix).one(rows[0]);
    // JSON:API allows `meta` after the other members.
    return { ...answer, text: meta.meta ? `${text.slice(0, -1)},${stringifyJson(meta).slice(1)}` : text };
  } catch (error) {
    if (isAppError(error)) return withoutReading();
    throw error;
  }
}

interface WriteCall extends ResponseFields {
  readonly resource: Resource;
}

interface UpdateCall extends WriteCall {
  readonly id: string;
}

/** Checks the right before any lookup, and the requested fields before any write. */
function checkWrite(verb: WriteVerb, { collection, selection }: ResponseFields, call: DataCall): void {
  const description = describe(call, collection);
  requireRight(verb, collection, call);
  project(call, description, selection);
}

/** Throws UNKNOWN_COLLECTION, FORBIDDEN or NEEDS_APPROVAL. */
function requireRight(verb: WriteVerb, collection: string, call: DataCall): void {
  describe(call, collection);
  if (!call.access.can(verb, collection)) fail('FORBIDDEN', { verb: verbPhrases[verb], collection });
  checkPolicy(call, verb, collection);
}

async function create(args: WriteCall, call: DataCall): Promise<Answer> {
  const { collection, resource, timezone } = args;
  checkWrite('add', args, call);
  const access = withApprovalCheck(call);
  const record = await toValues(resource, collection, call);
  const request = { collection, records: [record], ...(timezone !== undefined && { timezone }) };
  const answer = await call.engine.create(access, request, toCallOptions(call));
  return respondWritten(answer, args, call);
}

async function update(args: UpdateCall, call: DataCall): Promise<Answer> {
  const { collection, id, resource, timezone } = args;
  checkWrite('edit', args, call);
  const access = withApprovalCheck(call);
  const values = await toValues(resource, collection, call);
  const request = { collection, ids: [id], values, ...(timezone !== undefined && { timezone }) };
  const answer = await call.engine.update(access, request, toCallOptions(call));
  return respondWritten(answer, args, call);
}

const updateAt = (method: 'PUT' | 'PATCH'): AnyDataRoute =>
  dataRoute({
    method,
    path: '/:collection/:id',
    action: 'update',
    writes: true,
    parse(request: DataRequest): UpdateCall {
      const { collection, id } = request.params as Readonly<Record<'collection' | 'id', string>>;
      return { collection, id, resource: parseResource(request.body, collection, id), ...readFieldSelection(request) };
    },
    subject: ({ collection, id }) => ({ collection, recordIds: [id] }),
    run: update,
  });

interface DeleteCall {
  readonly collection: string;
  readonly selection: Selection;
}

async function remove({ collection, selection }: DeleteCall, call: DataCall): Promise<Answer> {
  const access = withApprovalCheck(call);
  requireRight('delete', collection, call);
  const ids = await selectIds(selection, { collection, maxRecords: MAX_DELETED_RECORDS }, call);
  const answer = await call.engine.delete(access, { collection, ids }, toCallOptions(call));
  return { ...respondDone(answer), recordIds: ids };
}

export const recordRoutes: readonly AnyDataRoute[] = [
  dataRoute({
    method: 'POST',
    path: '/:collection',
    action: 'create',
    writes: true,
    parse(request: DataRequest): WriteCall {
      const collection = request.params.collection!;
      return { collection, resource: parseResource(request.body, collection), ...readFieldSelection(request) };
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
      selection: parseSelection(readAttributes(body)),
    }),
    subject: ({ collection, selection: { ids } }) => ({ collection, ...(ids.length > 0 && { recordIds: ids }) }),
    run: remove,
  }),
];
