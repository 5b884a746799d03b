// Records as a table in a file. They are read page by page, each from where the last one ended, while the client takes them:
// memory holds one page, however many there are, and nothing is read for a client that has left. The first page is read
// before anything is answered, so that what is wrong is told with its status; a failure after that cuts the connection, so
// that no file looks whole and is not.
import type { CallOptions, CollectionDescription, ListAnswer } from '../agent/engine.ts';
import { fail } from '../core/errors.ts';
import { byteOrderMark } from '../oauth/csv-cell.ts';
import { attachmentOf, csvHeader, csvLines, csvType } from './csv.ts';
import { conditionsOf, type ListConditions, type ListDoor } from './listing.ts';
import { type Listing, readExtra, readListing, splitNames } from './parameters.ts';
import { project } from './projection.ts';
import { findRelated, needMany, readPlace, relationPath, subjectOf } from './related.ts';
import { type Answer, type DataCall, type DataRequest, dataRoute, type Route } from './route.ts';
import { describe, typeAt } from './seen.ts';

const PAGE = 1000;

interface Export extends Listing {
  /** Of the columns; their paths when absent. */
  readonly labels: readonly string[] | undefined;
  readonly filename: string | undefined;
}

function readExport(request: DataRequest): Export {
  const listing = readListing(request, ['header', 'filename']);
  const header = readExtra(request, 'header');
  return {
    ...listing,
    labels: header === undefined ? undefined : readLabels(header),
    filename: readExtra(request, 'filename'),
  };
}

/** Names between commas, or a JSON list. */
function readLabels(text: string): readonly string[] {
  if (!text.trimStart().startsWith('[')) return splitNames(text);
  try {
    const list: unknown = JSON.parse(text);
    if (Array.isArray(list) && list.every((label) => typeof label === 'string')) return list;
  } catch {
    // Told below.
  }
  return fail('INVALID_ARGUMENT', { argument: 'header', problem: 'expected names between commas, or a JSON list.' });
}

export const exportRoutes: readonly Route[] = [
  dataRoute({
    method: 'GET',
    path: '/:collection.csv',
    action: 'export',
    writes: false,
    parse: (request) => ({ collection: request.params.collection!, wish: readExport(request) }),
    subject: ({ collection }) => ({ collection }),
    run({ collection, wish }, call) {
      const { access, engine } = call;
      const name = collection;
      return answerFile(describe(call, collection), { ...wish, name, rights: name }, call, (request, options) =>
        engine.list(access, { collection, ...request }, options),
      );
    },
  }),
  dataRoute({
    method: 'GET',
    path: `${relationPath}.csv`,
    action: 'exportRelated',
    writes: false,
    parse: (request) => ({ ...readPlace(request), wish: readExport(request) }),
    subject: (args) => subjectOf(args),
    run({ wish, ...place }, call) {
      const { access, engine } = call;
      const related = findRelated(call, place);
      const file = { ...wish, name: place.relation, rights: related.rights };
      return answerFile(needMany(related, place), file, call, (request, options) =>
        engine.listRelated(access, { ...place, ...request }, options),
      );
    },
  }),
];

async function answerFile(
  description: CollectionDescription,
  wish: Export & { readonly name: string; readonly rights: string },
  call: DataCall,
  list: ListDoor,
): Promise<Answer> {
  // CWE-862: many records at once are another right than a page of them.
  if (!call.access.can('export', wish.rights)) fail('FORBIDDEN', { verb: 'export', collection: wish.rights });
  const { wished } = project(call, description, wish.shown);
  const { labels = wished, filename = wish.name } = wish;
  if (labels.length !== wished.length)
    fail('INVALID_ARGUMENT', {
      argument: 'header',
      problem: `expected ${wished.length} labels, one for each of ${wished.join(', ')}; got ${labels.length}.`,
    });
  const request = {
    ...conditionsOf(description, wish, call, { fields: wished }),
    limit: Math.min(PAGE, call.config.pageSizeLimit),
  };
  const options = { signal: call.signal };
  const first = await list(request, options);
  // Without a key there is no order that would hold from one page to the next.
  if (first.hasMore && first.cursorAfter(first.rows.length - 1) === undefined)
    fail('INVALID_ARGUMENT', {
      argument: 'collection',
      problem: `'${description.name}' has no key that you see, so that no more than ${request.limit} records can be exported. Narrow the filters.`,
    });
  const numeric = wished.map((path) => typeAt(call, description, path) === 'Number');
  const head = byteOrderMark + csvHeader(labels);
  return {
    status: 200,
    headers: { 'Content-Disposition': attachmentOf(filename) },
    stream: { type: csvType, parts: pages(first, { request, options, list, numeric, head }) },
  };
}

interface Reading {
  readonly request: ListConditions;
  readonly options: CallOptions;
  readonly list: ListDoor;
  readonly numeric: readonly boolean[];
  readonly head: string;
}

async function* pages(first: ListAnswer, { request, options, list, numeric, head }: Reading): AsyncGenerator<string> {
  let page = first;
  yield head + csvLines(page.rows, numeric);
  while (page.hasMore) {
    const cursor = page.cursorAfter(page.rows.length - 1)!;
    page = await list({ ...request, cursor }, options);
    yield csvLines(page.rows, numeric);
  }
}
