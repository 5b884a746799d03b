// Resources: what a client can attach to a conversation without the model calling a tool. Every resource is a row of this
// table; resource-handlers.ts lists, reads and completes them by it. A resource belongs to a tool: who is not shown the
// tool is not shown the resource, and what one may not see is answered as if it did not exist.
import { CHART_VIEW_URI, chartViewPage, drawn, VIEW_TYPE, viewMeta } from '../answers/chart-view.ts';
import { type AskTool, collectionNames, type Viewer } from './viewing.ts';

export interface Reading {
  /** What stands in the place of the variable. */
  readonly value: string;
  /** UNKNOWN_COLLECTION is told as a resource that does not exist. */
  readonly ask: AskTool;
}

export interface Resource {
  /** Whole, or ending in one `{variable}`: a template (RFC 6570, level 1). */
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
  /** The tools that it belongs to: it is shown with any of them. */
  readonly tools: readonly string[];
  /** False: found by the tools that name it alone. Default true. */
  readonly isListed?: boolean;
  /** Goes with the entry in lists and with the contents, as `_meta`. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Of a template: the values that lead somewhere for this viewer, in order. They are listed and completed. */
  readonly values?: (viewer: Viewer) => readonly string[];
  readonly read: (reading: Reading) => Promise<string>;
}

export const resources: readonly Resource[] = [
  {
    uri: 'portico://collections',
    name: 'collections',
    title: 'Collections',
    description: 'All collections, each with its relations',
    mimeType: 'application/json',
    tools: ['describeCollection'],
    read: ({ ask }) => ask('describeCollection', {}),
  },
  {
    uri: 'portico://collections/{name}',
    name: 'collection',
    title: 'Collection',
    description: 'Key, fields, relations, actions and charts of one collection',
    mimeType: 'application/json',
    tools: ['describeCollection'],
    values: collectionNames,
    read: ({ ask, value }) => ask('describeCollection', { collectionName: value }),
  },
  {
    uri: CHART_VIEW_URI,
    name: 'chart',
    title: 'Chart',
    description: 'Draws what getChart and aggregate answer',
    mimeType: VIEW_TYPE,
    tools: [...drawn],
    // SEP-1865, resource discovery: what is found by the metadata of tools may be left out of lists.
    isListed: false,
    meta: viewMeta,
    read: async () => chartViewPage(),
  },
];
