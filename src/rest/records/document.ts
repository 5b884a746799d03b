// Serializes rows as a JSON:API 1.0 document. The constant parts of a resource are built once per projection. Values go
// directly from the row to the text, without intermediate objects. A resource that several relations reach occurs once
// in `included` (JSON:API 1.0, Compound Documents), with the attributes of all of them.

import { packId } from '../../agent/encode/record-id.ts';
import { printJson } from '../../agent/sources/lossless-json.ts';
import type { Projection, Resource } from './projection.ts';

type Rows = readonly (readonly unknown[])[];

export interface Writer {
  /** With `search`, `meta` lists the attributes that contain it. */
  list(rows: Rows, search?: string): string;
  /** Writes `null` if the relation has no record. */
  one(row: readonly unknown[] | undefined): string;
}

const opening = '{"jsonapi":{"version":"1.0"},"data":';

const written = new WeakMap<Projection, Map<string, Writer>>();

/** `prefix`: the URL path before the path of a route. */
export function writerOf(projection: Projection, prefix: string): Writer {
  const known = written.get(projection) ?? new Map<string, Writer>();
  written.set(projection, known);
  let writer = known.get(prefix);
  if (!writer) {
    writer = createWriter(projection, prefix);
    known.set(prefix, writer);
  }
  return writer;
}

function createWriter(projection: Projection, prefix: string): Writer {
  const root = prepare(projection.root, projection.repeated, prefix);
  const finish = (data: string, page: Page): string => {
    const included = page.included.filter((each) => typeof each === 'string' || !each.isPrimary).map(textOf);
    return `${opening}${data}${included.length > 0 ? `,"included":[${included.join(',')}]` : ''}`;
  };
  return {
    list(rows, search) {
      const page = createPage();
      const data = rows.map((row) => write(root, row, page, true));
      const meta = search === undefined ? '' : decorate(root, rows, search);
      return `${finish(`[${data.map(textOf).join(',')}]`, page)}${meta}}`;
    },
    one(row) {
      const page = createPage();
      return `${finish(row ? textOf(write(root, row, page, true)) : 'null', page)}}`;
    },
  };
}

/** A resource with the constant parts of its text. */
interface Prepared extends Omit<Resource, 'toOne' | 'toMany'> {
  readonly isRepeated: boolean;
  /** `{"type":"orders","id":` */
  readonly start: string;
  /** `"total":` */
  readonly heads: readonly string[];
  readonly toOne: readonly { readonly name: string; readonly head: string; readonly resource: Prepared }[];
  readonly toMany: readonly { readonly name: string; readonly before: string; readonly after: string }[];
}

function prepare(resource: Resource, repeated: ReadonlySet<string>, prefix: string): Prepared {
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
      resource: prepare(one.resource, repeated, prefix),
    })),
    toMany: toMany.map((name) => ({
      name,
      before: `${JSON.stringify(name)}:{"links":{"related":{"href":${JSON.stringify(address).slice(0, -1)}`,
      after: `${JSON.stringify(`/relationships/${encodeURIComponent(name)}`).slice(1)}}}}`,
    })),
  };
}

/** A resource that several relations can reach. Each occurrence adds its attributes. */
interface Gathered {
  readonly start: string;
  readonly id: string;
  readonly attributes: Map<string, string>;
  readonly relationships: Map<string, string>;
  isPrimary: boolean;
}

interface Page {
  readonly included: (string | Gathered)[];
  /** Ids that are already included, by resource. */
  readonly seen: Map<Prepared, Set<string>>;
  readonly gathered: Map<string, Gathered>;
}

const createPage = (): Page => ({ included: [], seen: new Map(), gathered: new Map() });

const textOf = (each: string | Gathered): string =>
  typeof each === 'string'
    ? each
    : close(each.start + JSON.stringify(each.id), [...each.attributes.values()], [...each.relationships.values()]);

function close(start: string, attributes: readonly string[], relationships: readonly string[]): string {
  const end = relationships.length > 0 ? `},"relationships":{${relationships.join(',')}}}` : '}}';
  return `${start},"attributes":{${attributes.join(',')}${end}`;
}

/** Returns the packed id, or undefined if the collection has no key visible to the caller. */
function idOf({ key }: Prepared, row: readonly unknown[]): string | undefined {
  if (key.length === 0) return undefined;
  if (key.length === 1) return String(row[key[0]!]);
  return packId(key.map((slot) => row[slot]));
}

/** Adds the records of its relations to one to the page. */
function write(resource: Prepared, row: readonly unknown[], page: Page, isPrimary: boolean): string | Gathered {
  const id = idOf(resource, row);
  const { heads, slots, toOne, toMany } = resource;
  const linked: string[] = [];
  for (const one of toOne) linked.push(`${one.head}${include(one.resource, row, page)}}`);
  if (id !== undefined && toMany.length > 0) {
    const inAddress = encodeURIComponent(id);
    for (const { before, after } of toMany) linked.push(before + inAddress + after);
  }
  if (resource.isRepeated && id !== undefined) return gather(resource, row, { id, linked, page, isPrimary });
  const start = resource.start + (id === undefined ? 'null' : JSON.stringify(id));
  let text = `${start},"attributes":{`;
  for (let at = 0; at < heads.length; at++) {
    if (at > 0) text += ',';
    text += heads[at] + valueText(row[slots[at]!]);
  }
  return text + (linked.length > 0 ? `},"relationships":{${linked.join(',')}}}` : '}}');
}

/** Returns the resource identifier, or `null` if there is no visible record. */
function include(resource: Prepared, row: readonly unknown[], page: Page): string {
  const first = row[resource.key[0]!];
  // The key of a record is never null.
  if (first === null || first === undefined) return 'null';
  const id = idOf(resource, row)!;
  const seen = page.seen.get(resource) ?? new Set<string>();
  page.seen.set(resource, seen);
  if (!seen.has(id)) {
    seen.add(id);
    const done = write(resource, row, page, false);
    if (typeof done === 'string') page.included.push(done);
  }
  return `${resource.start}${JSON.stringify(id)}}`;
}

interface Gathering {
  readonly id: string;
  readonly linked: readonly string[];
  readonly page: Page;
  readonly isPrimary: boolean;
}

function gather(resource: Prepared, row: readonly unknown[], { id, linked, page, isPrimary }: Gathering): Gathered {
  const { start, names, heads, slots, toOne, toMany } = resource;
  const place = `${start}${id}`;
  let known = page.gathered.get(place);
  if (!known) {
    known = { start, id, attributes: new Map(), relationships: new Map(), isPrimary: false };
    page.gathered.set(place, known);
    if (!isPrimary) page.included.push(known);
  }
  known.isPrimary ||= isPrimary;
  for (let at = 0; at < names.length; at++) known.attributes.set(names[at]!, heads[at] + valueText(row[slots[at]!]));
  for (const [at, { name }] of [...toOne, ...toMany].entries()) known.relationships.set(name, linked[at]!);
  return known;
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
      return value === null || value === undefined ? 'null' : (printJson(value) ?? 'null');
  }
}

/**
 * Builds `meta.decorators`: by row position, the id and the attributes that contain the text. It is omitted if no row
 * matches.
 */
function decorate(root: Prepared, rows: Rows, search: string): string {
  const sought = search.toLowerCase();
  const found = rows.flatMap((row, place) => {
    const names = root.names.filter((_, at) => {
      const value = row[root.slots[at]!];
      return (typeof value === 'string' || typeof value === 'number') && `${value}`.toLowerCase().includes(sought);
    });
    return names.length > 0 ? [[String(place), { id: idOf(root, row) ?? null, search: names }]] : [];
  });
  return found.length > 0 ? `,"meta":{"decorators":${JSON.stringify(Object.fromEntries(found))}}` : '';
}
