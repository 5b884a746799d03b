// The table of resources, which clients attach to a conversation without a tool call. handlers.ts lists, reads and
// completes them. Each resource belongs to tools and is only visible to callers who are shown one of them. A resource
// that the caller may not see gives the same error as a missing one.
import { CHART_VIEW_URI, chartTools, chartViewPage, VIEW_TYPE, viewMeta } from '../results/chart-view.ts';
import { readFile } from '../tools/read-file.ts';
import { type CallToolByName, collectionNames, type Viewer } from './visible-resources.ts';

interface ReadRequest {
  /** The value of each variable. */
  readonly values: Readonly<Record<string, string>>;
  /** Calls a tool. UNKNOWN_COLLECTION becomes the error of a missing resource. */
  readonly callTool: CallToolByName;
}

export interface Resource {
  /** A URI, or a template with a `{variable}` for each of its last path segments (RFC 6570, level 1). */
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
  /** The tools that it belongs to; any one of them makes it visible. */
  readonly tools: readonly string[];
  /** False: absent from lists, since tool metadata names it. Default: true. */
  readonly isListed?: boolean;
  /** Sent as `_meta` with list entries and contents. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** For a template with one variable: the values that this viewer may see, in order. Lists and completion use them. */
  readonly values?: (viewer: Viewer) => readonly string[];
  readonly read: (request: ReadRequest) => Promise<string | FileContent>;
}

interface FileContent {
  readonly mimeType: string;
  /** Base64. */
  readonly blob: string;
}

export const resources: readonly Resource[] = [
  {
    uri: 'portico://collections',
    name: 'collections',
    title: 'Collections',
    description: 'All collections, each with its relations',
    mimeType: 'application/json',
    tools: ['describeCollection'],
    read: ({ callTool: ask }) => ask('describeCollection', {}),
  },
  {
    uri: 'portico://collections/{name}',
    name: 'collection',
    title: 'Collection',
    description: 'Key, fields, relations, actions and charts of one collection',
    mimeType: 'application/json',
    tools: ['describeCollection'],
    values: collectionNames,
    read: ({ callTool: ask, values: { name } }) => ask('describeCollection', { collectionName: name }),
  },
  {
    uri: 'portico://query',
    name: 'query',
    title: 'Query language',
    description: 'Filters, operators, dates, pages and totals, with examples',
    mimeType: 'text/markdown',
    tools: ['describeCollection'],
    read: ({ callTool: ask }) => ask('describeCollection', { detail: 'query' }),
  },
  {
    uri: 'portico://files/{collection}/{id}/{field}',
    name: 'file',
    title: 'File of a record',
    description: 'Content of a File field',
    mimeType: 'application/octet-stream',
    tools: ['list'],
    async read({ callTool: ask, values: { collection, id, field } }) {
      const uri = await ask(readFile, { collectionName: collection, recordId: id, field });
      const [, mimeType = '', blob = ''] = /^data:([^;]*);base64,(.*)$/.exec(uri) ?? [];
      return { mimeType, blob };
    },
  },
  {
    uri: CHART_VIEW_URI,
    name: 'chart',
    title: 'Chart',
    description: 'Draws the results of getChart and aggregate',
    mimeType: VIEW_TYPE,
    tools: [...chartTools],
    // SEP-1865, resource discovery: resources that tool metadata names may be absent from lists.
    isListed: false,
    meta: viewMeta,
    read: async () => chartViewPage(),
  },
];
