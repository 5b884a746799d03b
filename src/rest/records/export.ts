// Exports records as CSV. Pages are read by cursor while the client downloads, so memory holds one page and reading
// stops when the client disconnects. The first page is read before the response starts, so errors in the request get
// their own status. A later failure closes the connection, so the client notices that the file is incomplete.
import type { CallOptions, CollectionDescription, ListAnswer } from '../../agent/requests.ts';
import type { Access } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import { byteOrderMark } from '../../http/csv-cell.ts';
import { type Listing, readExtra, readListing, splitNames } from '../parameters.ts';
import { type Answer, type AnyDataRoute, type DataCall, type DataRequest, dataRoute } from '../route.ts';
import { describe, typeAt } from '../visible-schema.ts';
import { csvAttachment, csvHeader, csvParts, csvType } from './csv.ts';
import { type ListConditions, type ListRecords, toListConditions } from './listing.ts';
import { project } from './projection.ts';
import { findRelated, parseRelationReference, relationPath, requireToMany, subjectOf } from './related.ts';

const PAGE_SIZE = 1000;

type ReadPage = (access: Access, ...args: Parameters<ListRecords>) => ReturnType<ListRecords>;

interface ExportRequest extends Listing {
  /** Column labels. Default to the field paths. */
  readonly labels: readonly string[] | undefined;
  readonly filename: string | undefined;
}

function parseExport(request: DataRequest): ExportRequest {
  const listing = readListing(request, ['header', 'filename']);
  const header = readExtra(request, 'header');
  if (listing.columns.length > 0)
    fail('INVALID_ARGUMENT', { argument: 'columns', problem: 'an export has fields only. Leave it out.' });
  return {
    ...listing,
    labels: header === undefined ? undefined : parseLabels(header),
    filename: readExtra(request, 'filename'),
  };
}

/** Accepts comma-separated names or a JSON list. */
function parseLabels(text: string): readonly string[] {
  if (!text.trimStart().startsWith('[')) return splitNames(text);
  try {
    const list: unknown = JSON.parse(text);
    if (Array.isArray(list) && list.every((label) => typeof label === 'string')) return list;
  } catch {
    // The error below reports this.
  }
  return fail('INVALID_ARGUMENT', {
    argument: 'header',
    problem: 'expected names separated by commas, or a JSON list.',
  });
}

export const exportRoutes: readonly AnyDataRoute[] = [
  dataRoute({
    method: 'GET',
    path: '/:collection.csv',
    action: 'export',
    writes: false,
    parse: (request) => ({ collection: request.params.collection!, wish: parseExport(request) }),
    subject: ({ collection }) => ({ collection }),
    run({ collection, wish: exportRequest }, call) {
      const name = collection;
      return exportFile(
        describe(call, collection),
        { ...exportRequest, name, rights: name },
        call,
        (access, request, options) => call.engine.list(access, { collection, ...request }, options),
      );
    },
  }),
  dataRoute({
    method: 'GET',
    path: `${relationPath}.csv`,
    action: 'exportRelated',
    writes: false,
    parse: (request) => ({ ...parseRelationReference(request), wish: parseExport(request) }),
    subject: (args) => subjectOf(args),
    run({ wish: exportRequest, ...reference }, call) {
      const related = findRelated(call, reference);
      const file = { ...exportRequest, name: reference.relation, rights: related.rights };
      return exportFile(requireToMany(related, reference), file, call, (access, request, options) =>
        call.engine.listRelated(access, { ...reference, ...request }, options),
      );
    },
  }),
];

async function exportFile(
  description: CollectionDescription,
  file: ExportRequest & { readonly name: string; readonly rights: string },
  call: DataCall,
  list: ReadPage,
): Promise<Answer> {
  requireExport(call.access, file.rights);
  const { requestedFields } = project(call, description, file.selection);
  const { labels = requestedFields, filename = file.name } = file;
  if (labels.length !== requestedFields.length)
    fail('INVALID_ARGUMENT', {
      argument: 'header',
      problem: `expected ${requestedFields.length} labels, one for each of ${requestedFields.join(', ')}; got ${labels.length}.`,
    });
  const request = {
    ...toListConditions(description, file, call, { fields: requestedFields }),
    limit: Math.min(PAGE_SIZE, call.config.pageSizeLimit),
  };
  const options = { signal: call.signal, cutsPages: true };
  const first = await list(call.access, request, options);
  // Paging by cursor needs a key.
  if (first.hasMore && first.cursorAfter(first.rows.length - 1) === undefined)
    fail('INVALID_ARGUMENT', {
      argument: 'collection',
      problem: `'${description.name}' has no key that you may see, and without one at most ${request.limit} records can be exported. Narrow the filters.`,
    });
  const listWithCurrentRights: ListRecords = async (request, options) => {
    const access = await call.currentAccess();
    requireExport(access, file.rights);
    return list(access, request, options);
  };
  const numeric = requestedFields.map((path) => typeAt(call, description, path) === 'Number');
  const head = byteOrderMark + csvHeader(labels);
  return {
    status: 200,
    headers: { 'Content-Disposition': csvAttachment(filename) },
    stream: {
      type: csvType,
      parts: streamPages(first, { request, options, list: listWithCurrentRights, numeric, head }),
    },
  };
}

/** CWE-862: an export needs its own right, besides the right to list. It is checked again for each page. */
function requireExport(access: Access, collection: string): void {
  if (!access.can('export', collection)) fail('FORBIDDEN', { verb: 'export', collection });
}

interface PageStream {
  readonly request: ListConditions;
  readonly options: CallOptions;
  readonly list: ListRecords;
  readonly numeric: readonly boolean[];
  readonly head: string;
}

async function* streamPages(
  first: ListAnswer,
  { request, options, list, numeric, head }: PageStream,
): AsyncGenerator<string> {
  let page = first;
  yield head;
  yield* csvParts(page.rows, numeric);
  while (page.hasMore) {
    const cursor = page.cursorAfter(page.rows.length - 1)!;
    page = await list({ ...request, cursor }, options);
    yield* csvParts(page.rows, numeric);
  }
}
