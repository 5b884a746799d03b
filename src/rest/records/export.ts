// Exports records as CSV. Pages are read by cursor while the client downloads, so memory holds one page and reading
// stops when the client disconnects. The first page is read before the response starts, so errors in the request get
// their own status. A later failure closes the connection, so the client notices that the file is incomplete.
import type { CallOptions, CollectionDescription, ListAnswer } from '../../agent/requests.ts';
import type { Access } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import { byteOrderMark } from '../../http/csv-cell.ts';
import { type Listing, readExtra, readListing, splitNames } from '../parameters.ts';
import { type Answer, type DataCall, type DataRequest, dataRoute, type Route } from '../route.ts';
import { describe, typeAt } from '../visible-schema.ts';
import { attachmentOf, csvHeader, csvParts, csvType } from './csv.ts';
import { conditionsOf, type ListConditions, type ListDoor } from './listing.ts';
import { project } from './projection.ts';
import { findRelated, needMany, readPlace, relationPath, subjectOf } from './related.ts';

const PAGE = 1000;

type PageDoor = (access: Access, ...asked: Parameters<ListDoor>) => ReturnType<ListDoor>;

interface Export extends Listing {
  /** Column labels. Default to the field paths. */
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

/** Accepts comma-separated names or a JSON list. */
function readLabels(text: string): readonly string[] {
  if (!text.trimStart().startsWith('[')) return splitNames(text);
  try {
    const list: unknown = JSON.parse(text);
    if (Array.isArray(list) && list.every((label) => typeof label === 'string')) return list;
  } catch {
    // The error below reports this.
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
      const name = collection;
      return answerFile(describe(call, collection), { ...wish, name, rights: name }, call, (access, request, options) =>
        call.engine.list(access, { collection, ...request }, options),
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
      const related = findRelated(call, place);
      const file = { ...wish, name: place.relation, rights: related.rights };
      return answerFile(needMany(related, place), file, call, (access, request, options) =>
        call.engine.listRelated(access, { ...place, ...request }, options),
      );
    },
  }),
];

async function answerFile(
  description: CollectionDescription,
  wish: Export & { readonly name: string; readonly rights: string },
  call: DataCall,
  list: PageDoor,
): Promise<Answer> {
  needExport(call.access, wish.rights);
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
  const options = { signal: call.signal, cutsPages: true };
  const first = await list(call.access, request, options);
  // Paging by cursor needs a key.
  if (first.hasMore && first.cursorAfter(first.rows.length - 1) === undefined)
    fail('INVALID_ARGUMENT', {
      argument: 'collection',
      problem: `'${description.name}' has no key that you see, so that no more than ${request.limit} records can be exported. Narrow the filters.`,
    });
  const listNow: ListDoor = async (request, options) => {
    const access = await call.accessNow();
    needExport(access, wish.rights);
    return list(access, request, options);
  };
  const numeric = wished.map((path) => typeAt(call, description, path) === 'Number');
  const head = byteOrderMark + csvHeader(labels);
  return {
    status: 200,
    headers: { 'Content-Disposition': attachmentOf(filename) },
    stream: { type: csvType, parts: pages(first, { request, options, list: listNow, numeric, head }) },
  };
}

/** CWE-862: an export needs its own right, besides the right to list. It is checked again for each page. */
function needExport(access: Access, collection: string): void {
  if (!access.can('export', collection)) fail('FORBIDDEN', { verb: 'export', collection });
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
  yield head;
  yield* csvParts(page.rows, numeric);
  while (page.hasMore) {
    const cursor = page.cursorAfter(page.rows.length - 1)!;
    page = await list({ ...request, cursor }, options);
    yield* csvParts(page.rows, numeric);
  }
}
