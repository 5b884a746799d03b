// Repairs names from callers if only one name can be meant. Accepts another case, singular for plural, dots for colons,
// and a foreign key or collection for a relation. Only visible names are candidates, so a repair cannot reveal hidden
// names. MCP tools use this file; the HTTP API requires exact names.
import type { Access } from '../../core/caller.ts';
import { createMeant, findMeant, foldName } from '../../core/suggestions.ts';
import type { Field, Model, Relation } from '../model/types.ts';
import type { ColumnType } from '../sources/column-types.ts';
import { firstOf, HOPS_LIMIT } from './names.ts';
import { type View, viewOf } from './visibility.ts';

/** Methods return undefined if no name matches, or several do. */
export interface CallerNames {
  collection(text: string): string | undefined;
  /** A field, or a path to one, as `relation:field`. */
  field(collection: string, text: string): string | undefined;
  /** A relation or a path of relations. */
  relation(collection: string, text: string): string | undefined;
  /** The collection at the end of a relation or a path of relations. */
  target(collection: string, relation: string): string | undefined;
  /** The type of a field, or of an exact path to one. */
  type(collection: string, path: string): ColumnType | undefined;
  /** The names of the key. Empty if a part of it is hidden. */
  key(collection: string): readonly string[];
}

const TEXT_LIMIT = 256;
const STEPS_LIMIT = 200;
/** Maximum of repairs per call. Each takes some tenths of a millisecond. */
const REPAIRS_LIMIT = 40;

/** Creates the name repair of one call. */
export function callerNames(model: Model, access: Access): CallerNames {
  let left = REPAIRS_LIMIT;
  const visible = (name: string): View | undefined => {
    const found = model.collections.get(name);
    return found && access.can('browse', name) ? viewOf(access, found) : undefined;
  };
  const find = (collection: string, text: string, kind: Kind): string | undefined => {
    const view = visible(collection);
    if (!view || text.length > TEXT_LIMIT) return undefined;
    if (strict(view, text, kind)) return text;
    return left-- <= 0 ? undefined : only(findPaths(view, text, kind, { left: STEPS_LIMIT }));
  };
  return {
    collection(text) {
      if (visible(text)) return text;
      const names = [...model.collections.keys()].filter((name) => access.can('browse', name));
      return findMeant(text, names);
    },
    field: (collection, text) => find(collection, text, 'column'),
    relation: (collection, text) => find(collection, text, 'relation'),
    target(collection, relation) {
      const view = visible(collection);
      const found = view && strict(view, relation, 'relation');
      return found && found.kind !== 'column' ? found.to.name : undefined;
    },
    type(collection, path) {
      const view = visible(collection);
      const found = view && strict(view, path, 'column');
      return found?.kind === 'column' ? found.type : undefined;
    },
    key(collection) {
      const view = visible(collection);
      const key = view?.collection.key ?? [];
      return key.every((column) => view?.columns.includes(column)) ? key.map(({ name }) => name) : [];
    },
  };
}

type Kind = 'column' | 'relation';

/** The last field of an exact path. */
function strict(home: View, text: string, kind: Kind): Field | undefined {
  let view = home;
  let rest = text;
  for (let hops = 0; hops <= HOPS_LIMIT; hops++) {
    const column = fieldOf(view, rest);
    if (column?.kind === 'column') return kind === 'column' ? column : undefined;
    const [first, separator] = firstOf(rest);
    const relation = fieldOf(view, first);
    if (!relation || relation.kind === 'column') return undefined;
    if (first === rest) return kind === 'relation' ? relation : undefined;
    // Records that customization code returns have no named fields.
    if (relation.given) return undefined;
    rest = rest.slice(first.length + separator.length);
    view = view.other(relation.to);
  }
  return undefined;
}

function fieldOf({ sight, collection }: View, name: string) {
  const field = sight.fields(collection).get(name);
  return field && sight.sees(collection, field) ? field : undefined;
}

/** All paths that match the text. */
function findPaths(view: View, text: string, kind: Kind, steps: { left: number }, hops = 0): readonly string[] {
  if (hops > HOPS_LIMIT || steps.left-- <= 0) return [];
  const whole = kind === 'column' ? knownOf(view).column(text) : relationOf(view, text)?.name;
  const paths = new Set(whole === undefined ? [] : [whole]);
  for (const { index, 0: separator } of text.matchAll(/:|@@@|\.|->|__|\//g)) {
    const [head, tail] = [text.slice(0, index), text.slice(index + separator.length)];
    if (head === '' || tail === '') continue;
    const found = relationOf(view, head);
    if (found?.relation.given) continue;
    if (found) {
      const rest = findPaths(view.other(found.relation.to), tail, kind, steps, hops + 1);
      for (const path of rest) paths.add(`${found.name}:${path}`);
    } else if (hops === 0 && findMeant(head, [view.collection.name])) {
      for (const path of findPaths(view, tail, kind, steps, hops + 1)) paths.add(path);
    }
  }
  return [...paths];
}

/** Finds a relation by its name, then by its foreign key, then as the only relation to a collection. */
function relationOf(view: View, text: string): { readonly name: string; readonly relation: Relation } | undefined {
  const { relations, relation } = knownOf(view);
  const named = (fits: (relation: Relation) => boolean) =>
    [...relations.keys()].filter((name) => fits(relations.get(name)!));
  const name =
    relation(text) ??
    only(named((relation) => keyOf(view, relation) === foldName(text))) ??
    only(named(({ to }) => findMeant(text, [to.name]) !== undefined));
  return name === undefined ? undefined : { name, relation: relations.get(name)! };
}

/** The folded name of the foreign key of a to-one relation. Undefined if it is composite or hidden. */
function keyOf({ columns }: View, { on, inverse }: Relation): string | undefined {
  const column = on[0]?.from;
  return !inverse && on.length === 1 && column && columns.includes(column) ? foldName(column.name) : undefined;
}

interface Known {
  readonly column: (text: string) => string | undefined;
  readonly relation: (text: string) => string | undefined;
  readonly relations: ReadonlyMap<string, Relation>;
}

/** Folded names, cached per View. A View has one version of the permissions. */
const known = new WeakMap<View, Known>();

function knownOf(view: View): Known {
  let found = known.get(view);
  if (!found) {
    const { sight, collection } = view;
    const seen = [...sight.fields(collection)].filter(([, field]) => sight.sees(collection, field));
    const relations = new Map(
      seen.flatMap(([name, field]) => (field.kind === 'column' ? [] : [[name, field] as const])),
    );
    const columns = seen.flatMap(([name, { kind }]) => (kind === 'column' ? [name] : []));
    found = { column: createMeant(columns), relation: createMeant(relations.keys()), relations };
    known.set(view, found);
  }
  return found;
}

function only<T>(items: readonly T[]): T | undefined {
  return items.length === 1 ? items[0] : undefined;
}
