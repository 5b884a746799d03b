// Repairs names from callers if only one name can be meant. Accepts another case, singular for plural, dots for colons,
// and a foreign key or collection for a relation. Only visible names are candidates, so a repair cannot reveal hidden
// names. MCP tools use this file; the HTTP API requires exact names.
import type { Access } from '../../core/caller.ts';
import { AppError } from '../../core/errors.ts';
import { createNameMatcher, foldName, matchName } from '../../core/suggestions.ts';
import type { Field, Model, Moment, Relation } from '../model/types.ts';
import type { InverseRelation, InverseRequest } from '../requests.ts';
import type { ColumnType } from '../sources/column-types.ts';
import { MAX_PATH_SEGMENTS, splitFirst } from './names.ts';
import { type CollectionView, mayBrowse, viewOf } from './visibility.ts';

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
  /** The to-one relation from the records of a to-many relation back to the collection. */
  inverse(collection: string, relation: string): string | undefined;
  /** The time of the call in the zone of the caller, for dates that a refusal writes. */
  readonly moment: Moment;
}

const TEXT_LIMIT = 256;
const STEPS_LIMIT = 200;
/** Maximum of repairs per call. Each takes some tenths of a millisecond. */
const REPAIRS_LIMIT = 40;

/** Creates the name repair of one call. */
export function createCallerNames(
  model: Model,
  access: Access,
  moment: Moment,
  inverseOf: (request: InverseRequest) => InverseRelation,
): CallerNames {
  let repairsLeft = REPAIRS_LIMIT;
  const visible = (name: string): CollectionView | undefined => {
    const found = model.collections.get(name);
    return found && mayBrowse(access, found) ? viewOf(access, found) : undefined;
  };
  const find = (collection: string, text: string, kind: Kind): string | undefined => {
    const view = visible(collection);
    if (!view || text.length > TEXT_LIMIT) return undefined;
    if (findExact(view, text, kind)) return text;
    return repairsLeft-- <= 0 ? undefined : onlyItem(findPaths(view, text, kind, { left: STEPS_LIMIT }));
  };
  return {
    moment,
    collection(text) {
      if (visible(text)) return text;
      // A pattern of describeCollection is not a misspelt name.
      if (text.includes('*')) return undefined;
      const seen = [...model.collections].filter(([, collection]) => mayBrowse(access, collection));
      const names = seen.map(([name]) => name);
      return matchName(text, names);
    },
    field: (collection, text) => find(collection, text, 'column'),
    relation: (collection, text) => find(collection, text, 'relation'),
    target(collection, relation) {
      const view = visible(collection);
      const found = view && findExact(view, relation, 'relation');
      return found && found.kind !== 'column' ? found.to.name : undefined;
    },
    type(collection, path) {
      const view = visible(collection);
      const found = view && findExact(view, path, 'column');
      return found?.kind === 'column' ? found.type : undefined;
    },
    inverse(collection, relation) {
      try {
        const { home, foreign } = inverseOf({ collection, relation });
        return foreign === undefined ? home : undefined;
      } catch (error) {
        if (error instanceof AppError) return undefined;
        throw error;
      }
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
function findExact(home: CollectionView, text: string, kind: Kind): Field | undefined {
  let view = home;
  let rest = text;
  for (let hops = 0; hops <= MAX_PATH_SEGMENTS; hops++) {
    const column = findVisibleField(view, rest);
    if (column?.kind === 'column') return kind === 'column' ? column : undefined;
    const [first, separator] = splitFirst(rest);
    const relation = findVisibleField(view, first);
    if (!relation || relation.kind === 'column') return undefined;
    if (first === rest) return kind === 'relation' ? relation : undefined;
    // Records that customization code returns have no named fields.
    if (relation.recordsColumn) return undefined;
    rest = rest.slice(first.length + separator.length);
    view = view.forCollection(relation.to);
  }
  return undefined;
}

function findVisibleField({ visibility, collection }: CollectionView, name: string) {
  const field = visibility.fields(collection).get(name);
  return field && visibility.canSee(collection, field) ? field : undefined;
}

/** All paths that match the text. */
function findPaths(
  view: CollectionView,
  text: string,
  kind: Kind,
  steps: { left: number },
  hops = 0,
): readonly string[] {
  if (hops > MAX_PATH_SEGMENTS || steps.left-- <= 0) return [];
  const whole = kind === 'column' ? foldedNamesOf(view).column(text) : relationOf(view, text)?.name;
  const paths = new Set(whole === undefined ? [] : [whole]);
  for (const { index, 0: separator } of text.matchAll(/:|@@@|\.|->|__|\//g)) {
    const [head, tail] = [text.slice(0, index), text.slice(index + separator.length)];
    if (head === '' || tail === '') continue;
    const found = relationOf(view, head);
    if (found?.relation.recordsColumn) continue;
    if (found) {
      const rest = findPaths(view.forCollection(found.relation.to), tail, kind, steps, hops + 1);
      for (const path of rest) paths.add(`${found.name}:${path}`);
    } else if (hops === 0 && matchName(head, [view.collection.name])) {
      for (const path of findPaths(view, tail, kind, steps, hops + 1)) paths.add(path);
    }
  }
  return [...paths];
}

/** Finds a relation by its name, then by its foreign key, then as the only relation to a collection. */
function relationOf(
  view: CollectionView,
  text: string,
): { readonly name: string; readonly relation: Relation } | undefined {
  const { relations, relation } = foldedNamesOf(view);
  const named = (fits: (relation: Relation) => boolean) =>
    [...relations.keys()].filter((name) => fits(relations.get(name)!));
  const name =
    relation(text) ??
    onlyItem(named((relation) => foreignKeyName(view, relation) === foldName(text))) ??
    onlyItem(named(({ to }) => matchName(text, [to.name]) !== undefined));
  return name === undefined ? undefined : { name, relation: relations.get(name)! };
}

/** The folded name of the foreign key of a to-one relation. Undefined if it is composite or hidden. */
function foreignKeyName({ columns }: CollectionView, { on, inverse }: Relation): string | undefined {
  const column = on[0]?.from;
  return !inverse && on.length === 1 && column && columns.includes(column) ? foldName(column.name) : undefined;
}

interface FoldedNames {
  readonly column: (text: string) => string | undefined;
  readonly relation: (text: string) => string | undefined;
  readonly relations: ReadonlyMap<string, Relation>;
}

/** Folded names, cached per View. A View has one version of the permissions. */
const foldedNames = new WeakMap<CollectionView, FoldedNames>();

function foldedNamesOf(view: CollectionView): FoldedNames {
  let found = foldedNames.get(view);
  if (!found) {
    const { visibility, collection } = view;
    const seen = [...visibility.fields(collection)].filter(([, field]) => visibility.canSee(collection, field));
    const relations = new Map(
      seen.flatMap(([name, field]) => (field.kind === 'column' ? [] : [[name, field] as const])),
    );
    const columns = seen.flatMap(([name, { kind }]) => (kind === 'column' ? [name] : []));
    found = { column: createNameMatcher(columns), relation: createNameMatcher(relations.keys()), relations };
    foldedNames.set(view, found);
  }
  return found;
}

function onlyItem<T>(items: readonly T[]): T | undefined {
  return items.length === 1 ? items[0] : undefined;
}
