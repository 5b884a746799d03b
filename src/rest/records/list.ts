// Endpoints that list records, count them and return one.

import { readFieldSelection, readListing } from '../parameters.ts';
import { type AnyDataRoute, dataRoute } from '../route.ts';
import { describe } from '../visible-schema.ts';
import { writerOf } from './document.ts';
import { runCount, runList } from './listing.ts';
import { project } from './projection.ts';

export const listRoutes: readonly AnyDataRoute[] = [
  dataRoute({
    method: 'GET',
    path: '/:collection',
    action: 'list',
    writes: false,
    parse: (request) => ({ collection: request.params.collection!, listing: readListing(request) }),
    subject: ({ collection }) => ({ collection }),
    run({ collection, listing }, call) {
      const { access, engine } = call;
      return runList(describe(call, collection), listing, call, (request, options) =>
        engine.list(access, { collection, ...request }, options),
      );
    },
  }),
  dataRoute({
    method: 'GET',
    path: '/:collection/count',
    action: 'count',
    writes: false,
    parse: (request) => ({ collection: request.params.collection!, listing: readListing(request) }),
    subject: ({ collection }) => ({ collection }),
    run({ collection, listing }, call) {
      const { access, engine } = call;
      return runCount(describe(call, collection), listing, call, (request, options) =>
        engine.count(access, { collection, ...request }, options),
      );
    },
  }),
  dataRoute({
    method: 'GET',
    path: '/:collection/:id',
    action: 'get',
    writes: false,
    parse: (request) => ({
      collection: request.params.collection!,
      id: request.params.id!,
      ...readFieldSelection(request),
    }),
    subject: ({ collection, id }) => ({ collection, recordIds: [id] }),
    async run({ collection, id, selection: shown, timezone }, call) {
      const { access, engine, signal, prefix } = call;
      const projection = project(call, describe(call, collection), shown);
      const zone = timezone === undefined ? {} : { timezone };
      const { rows } = await engine.get(access, { collection, id, fields: projection.fields, ...zone }, { signal });
      return { status: 200, text: writerOf(projection, prefix).one(rows[0]) };
    },
  }),
];
