// Serializes rows as a JSON:API 1.0 document. The constant parts of a resource are built once per projection. Values go
// directly from the row to the text, without intermediate objects. A resource that several relations reach occurs once
// in `included` (JSON:API 1.0, Compound Documents), with the attributes of all of them.

import { packId } from '../../agent/encode/record-id.ts';
import { stringifyJson } from '../../agent/sources/lossless-json.ts';
import type { Projection, Resource } from './projection.ts';

type Rows = readonly (readonly unknown[])[];

interface DocumentWriter {
  /** With `search`, `meta` lists the attributes that contain it. */
  list(rows: Rows, search?: string): string;
  /** Writes `null` if the relation has no record. */
  one(row: readonly unknown[] | undefined): string;
}

const DOCUMENT_START = '{"jsonapi":{"version":"1.0"},"data":';

const writerCache = new WeakMap<Projection, Map<string, DocumentWriter>>();

/** `prefix`: the URL path before the path of a route. */
export function writerOf(projection: Projection, prefix: string): DocumentWriter {
  const writersByPrefix = writerCache.get(projection) ?? new Map<string, DocumentWriter>();
  writerCache.set(projection, writersByPrefix);
  let writer = writersByPrefix.get(prefix);
  if (!writer) {
    writer = createDocumentWriter(projection, prefix);
    writersByPrefix.set(prefix, writer);
  }
  return writer;
}

function createDocumentWriter(projection: Projection, prefix: string): DocumentWriter {
  const root = prepareResource(projection.root, projection.repeated, prefix);
  const finish = (data: string, page: Page): string => {
    const included = page.included.filter((each) => typeof each === 'string' || !each.isPrimary).map(resourceText);
    return `${DOCUMENT_START}${data}${included.length > 0 ? `,"included":[${included.join(',')}]` : ''}`;
  };
  return {
    list(rows, search) {
      const page = createPage();
      const data = rows.map((row) => writeResource(root, row, page, true));
      const meta = search === undefined ? '' : describeMatches(root, rows, search);
      return `${finish(`[${data.map(resourceText).join(',')}]`, page)}${meta}}`;
    },
    one(row) {
      const page = createPage();
      return `${finish(row ? resourceText(writeResource(root, row, page, true)) : 'null', page)}}`;
    },
  };
}

/** A resource with the constant parts of its text. */
interface PreparedResource extends Omit<Resource, 'toOne' | 'toMany'> {
  readonly isRepeated: boolean;
  /** `{"type":"orders","id":` */
  readonly start: string;
  /** `"total":` */
  readonly heads: readonly string[];
  readonly toOne: readonly { readonly name: string; readonly head: string; readonly resource: PreparedResource }[];
  readonly toMany: readonly { readonly name: string; readonly before: string; readonly after: string }[];
}

function prepareResource(resource: Resource, repeated: ReadonlySet<string>, prefix: string): PreparedResource {
  const { collection, names, toOne, toMany } = resource;
  const address = `${prefix}/${encodeURIComponent(collection)}/`;
  return {
    ...resource,
    isRepeated: repeated.has(collection),
    start: `{"type":${JSON.stringify(collection)},"id":`,
    heads: names.map((name) => `${JSON.stringify(name)}:`),
    toOne: toOne.map((one) => ({
      name: one.name,
      head: `${JSON.stringify(one.name)}:{"data":`,
      resource: prepareResource(one.resource, repeated, prefix),
    })),
    toMany: toMany.map((name) => ({
      name,
      before: `${JSON.stringify(name)}:{"links":{"related":{"href":${JSON.stringify(address).slice(0, -1)}`,
      after: `${JSON.stringify(`/relationships/${encodeURIComponent(name)}`).slice(1)}}}}`,
    })),
  };
}

/** A resource that several relations can reach. Each occurrence adds its attributes. */
interface MergedResource {
  readonly start: string;
  readonly id: string;
  readonly attributes: Map<string, string>;
  readonly relationships: Map<string, string>;
  isPrimary: boolean;
}

interface Page {
  readonly included: (string | MergedResource)[];
  /** Ids that are already included, by resource. */
  readonly includedIds: Map<PreparedResource, Set<string>>;
  readonly merged: Map<string, MergedResource>;
}

const createPage = (): Page => ({ included: [], includedIds: new Map(), merged: new Map() });

const resourceText = (each: string | MergedResource): string =>
  typeof each === 'string'
    ? each
    : closeResource(
        each.start + JSON.stringify(each.id),
        [...each.attributes.values()],
        [...each.relationships.values()],
      );

function closeResource(start: string, attributes: readonly string[], relationships: readonly string[]): string {
  const end = relationships.length > 0 ? `},"relationships":{${relationships.join(',')}}}` : '}}';
  return `${start},"attributes":{${attributes.join(',')}${end}`;
}

/** Returns the packed id, or undefined if the collection has no key visible to the caller. */
function idOf({ key }: PreparedResource, row: readonly unknown[]): string | undefined {
  if (key.length === 0) return undefined;
  if (key.length === 1) return String(row[key[0]!]);
  return packId(key.map((slot) => row[slot]));
}

/** Adds the records of its relations to one to the page. */
function writeResource(
  resource: PreparedResource,
  row: readonly unknown[],
  page: Page,
  isPrimary: boolean,
): string | MergedResource {
  const id = idOf(resource, row);
  const { heads, slots, toOne, toMany } = resource;
  const linkage: string[] = [];
  for (const one of toOne) linkage.push(`${one.head}${includeRelated(one.resource, row, page)}}`);
  if (id !== undefined && toMany.length > 0) {
    const encodedId = encodeURIComponent(id);
    for (const { before, after } of toMany) linkage.push(before + encodedId + after);
  }
  if (resource.isRepeated && id !== undefined) return mergeResource(resource, row, { id, linkage, page, isPrimary });
  const start = resource.start + (id === undefined ? 'null' : JSON.stringify(id));
  let text = `${start},"attributes":{`;
  for (let at = 0; at < heads.length; at++) {
    if (at > 0) text += ',';
    text += heads[at] + valueText(row[slots[at]!]);
  }
  return text + (linkage.length > 0 ? `},"relationships":{${linkage.join(',')}}}` : '}}');
}

/** Returns the resource identifier, or `null` if there is no visible record. */
function includeRelated(resource: PreparedResource, row: readonly unknown[], page: Page): string {
  const first = row[resource.key[0]!];
  // The key of a record is never null.
  if (first === null || first === undefined) return 'null';
  const id = idOf(resource, row)!;
  const includedIds = page.includedIds.get(resource) ?? new Set<string>();
  page.includedIds.set(resource, includedIds);
  if (!includedIds.has(id)) {
    includedIds.add(id);
    const writtenText = writeResource(resource, row, page, false);
    if (typeof writtenText === 'string') page.included.push(writtenText);
  }
  return `${resource.start}${JSON.stringify(id)}}`;
}

interface MergeInput {
  readonly id: string;
  readonly linkage: readonly string[];
  readonly page: Page;
  readonly isPrimary: boolean;
}

function mergeResource(
  resource: PreparedResource,
  row: readonly unknown[],
  { id, linkage, page, isPrimary }: MergeInput,
): MergedResource {
  const { start, names, heads, slots, toOne, toMany } = resource;
  const identity = `${start}${id}`;
  let merged = page.merged.get(identity);
  if (!merged) {
    merged = { start, id, attributes: new Map(), relationships: new Map(), isPrimary: false };
    page.merged.set(identity, merged);
    if (!isPrimary) page.included.push(merged);
  }
  merged.isPrimary ||= isPrimary;
  for (let at = 0; at < names.length; at++) merged.attributes.set(names[at]!, heads[at] + valueText(row[slots[at]!]));
  for (const [at, { name }] of [...toOne, ...toMany].entries()) merged.relationships.set(name, linkage[at]!);
  return merged;
}

function valueText(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      return Number.isFinite(value) ? `${value}` : 'null';
    case 'boolean':
      return value ? 'true' : 'false';
    default:
      // JSON from the database is printed as it was read.
      return value === null || value === undefined ? 'null' : (stringifyJson(value) ?? 'null');
  }
}

/**
 * Builds `meta.decorators`: by row position, the id and the attributes that contain the text. It is omitted if no row
 * matches.
 */
function describeMatches(root: PreparedResource, rows: Rows, search: string): string {
  const searchText = search.toLowerCase();
  const matches = rows.flatMap((row, position) => {
    const names = root.names.filter((_, at) => {
      const value = row[root.slots[at]!];
      return (typeof value === 'string' || typeof value === 'number') && `${value}`.toLowerCase().includes(searchText);
    });
    return names.length > 0 ? [[String(position), { id: idOf(root, row) ?? null, search: names }]] : [];
  });
  return matches.length > 0 ? `,"meta":{"decorators":${JSON.stringify(Object.fromEntries(matches))}}` : '';
}
