// Adds the fields of flattened columns and relations. Parts of an object become added fields that write into the
// object; fields of a relation are imported. Their names, `column@@@part` and `relation@@@field`, are unique.

import type { CodeRecord } from '../customize/context.ts';
import type { FlattenColumnOptions, FlattenRelationOptions } from '../customize/definitions.ts';
import type { FieldWriter } from '../customize/hooks.ts';
import type { ColumnShape } from '../sources/column-types.ts';
import { type CollectionBuild, readShape } from './added.ts';
import { failMisuse, failUnknownName } from './customizations.ts';
import type { Field, Relation } from './types.ts';

const SEPARATOR = '@@@';

/** Runs before fields are added. `buildOf` finds the foreign collection of a relation. */
export function flattenFields(
  builds: readonly CollectionBuild[],
  buildOf: (relation: Relation) => CollectionBuild,
): void {
  // Excludes fields that were themselves flattened, because two collections may flatten each other.
  const names = new Map(builds.map((home) => [home, namesOf(home)]));
  for (const home of builds)
    for (const { flattening, at } of home.customizations.flattened) {
      if (flattening.of === 'column') flattenColumn(home, flattening.options, at);
      else flattenRelation(home, flattening.options, at, (relation) => names.get(buildOf(relation))!);
    }
}

/** The fields with values, by original name. */
function namesOf({ internalFields, customizations }: CollectionBuild): readonly string[] {
  const stored = [...internalFields].flatMap(([name, field]) => (field.kind === 'column' ? [name] : []));
  return [...stored, ...customizations.added.keys()].filter((name) => !customizations.removed.has(name));
}

type ColumnOptions = FlattenColumnOptions & { readonly keepOriginalColumn?: boolean };

function flattenColumn(home: CollectionBuild, options: ColumnOptions, at: string): void {
  const { columnName: column, level = 1, keepOriginalColumn = false } = options;
  const { internalFields, customizations, name: collection } = home;
  const shape = shapeOf(home, options, at);
  if (typeof shape === 'string' || Array.isArray(shape))
    failMisuse(`'${column}' of '${collection}' has no objects to flatten`, at);
  const all = new Map(partsOf(shape, level).map((part) => [part.path.join(':'), part]));
  const selected = selectNames([...all.keys()], options, column, `'${column}' of '${collection}' has no part`, at);
  if (selected.length === 0) failMisuse(`'${column}' of '${collection}' has no fields left to flatten`, at);
  const stored = internalFields.get(column);
  const isReadOnly = options.readonly ?? !(stored?.kind === 'column' && !stored.readOnly && !stored.computedFrom);
  if (!isReadOnly && (stored?.kind !== 'column' || stored.readOnly))
    failMisuse(`'${column}' of '${collection}' is read-only, and so are its parts`, at);
  const parts = [...all.values()].map(({ path }) => path);
  for (const text of selected) {
    const { path, type } = all.get(text)!;
    const field = [column, ...path].join(SEPARATOR);
    if (customizations.added.has(field)) failMisuse(`'${column}' of '${collection}' is already flattened`, at);
    customizations.added.set(field, {
      kind: 'addField',
      name: field,
      at,
      isStored: true,
      definition: {
        columnType: type,
        dependencies: [column],
        getValues: (records) => records.map((record) => readAt(record[column], path)),
      },
    });
    if (!isReadOnly)
      customizations.writings.set(field, Object.freeze({ write: createWriter(collection, column, field, parts), at }));
  }
  if (!keepOriginalColumn) customizations.removed.set(column, at);
}

function shapeOf(
  { internalFields, customizations, name }: CollectionBuild,
  { columnName, columnType }: ColumnOptions,
  at: string,
): ColumnShape {
  const stored = internalFields.get(columnName);
  const added = customizations.added.get(columnName);
  if (!stored && !added) {
    const known = [...internalFields.keys(), ...customizations.added.keys()];
    failUnknownName(`The collection '${name}' has no field '${columnName}'`, columnName, known, at);
  }
  if (stored && stored.kind !== 'column')
    failMisuse(`'${columnName}' of '${name}' is a relation: use flattenRelation`, at);
  if (stored && stored.type !== 'Json')
    failMisuse(`'${columnName}' of '${name}' has no objects: it is ${stored.type}`, at);
  if (columnType) return readShape(columnType, at);
  const computed = added?.kind === 'addField' ? added.definition.columnType : undefined;
  if (typeof computed === 'object') return readShape(computed as ColumnShape, at);
  return (
    (stored as { shape?: ColumnShape } | undefined)?.shape ??
    failMisuse(`'${columnName}' of '${name}' does not declare its types: set 'columnType', the types by key`, at)
  );
}

interface Part {
  readonly path: readonly string[];
  readonly type: ColumnShape;
}

function partsOf(shape: ColumnShape, level: number, under: readonly string[] = []): Part[] {
  return Object.entries(shape as { readonly [key: string]: ColumnShape }).flatMap(([key, type]) => {
    const path = [...under, key];
    const isObject = typeof type === 'object' && !Array.isArray(type);
    return isObject && level > 1 ? partsOf(type, level - 1, path) : [{ path, type }];
  });
}

function readAt(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const key of path) at = typeof at === 'object' && at !== null ? (at as CodeRecord)[key] : null;
  return at ?? null;
}

/** Merges all parts of a write into the existing object. */
function createWriter(
  collection: string,
  column: string,
  field: string,
  parts: readonly (readonly string[])[],
): FieldWriter {
  return async (_, { action, record, getRecords }) => {
    if (!(field in record)) throw new Error(`'${field}' can be written only with records of '${collection}'`);
    const written = parts.flatMap((path) => {
      const name = [column, ...path].join(SEPARATOR);
      return name in record ? [[path, record[name]] as const] : [];
    });
    const before = action === 'update' ? (await getRecords([column])).map((each) => each[column] ?? null) : [];
    const updated = (before.length ? before : [null]).map((object) =>
      written.reduce<unknown>((whole, [path, value]) => setAt(whole, path, value), object),
    );
    const [first] = updated;
    if (updated.some((each) => JSON.stringify(each) !== JSON.stringify(first)))
      throw new Error(`The records have different values in '${column}': update them one at a time`);
    return { [column]: first };
  };
}

/** A copy of the object with the value at its path. Replaces values on the path that are not objects. */
function setAt(object: unknown, [key = '', ...rest]: readonly string[], value: unknown): unknown {
  const current = typeof object === 'object' && object !== null && !Array.isArray(object) ? (object as CodeRecord) : {};
  return { ...current, [key]: rest.length ? setAt(current[key], rest, value) : value };
}

function flattenRelation(
  home: CollectionBuild,
  options: FlattenRelationOptions,
  at: string,
  fieldsOf: (relation: Relation) => readonly string[],
): void {
  const { relationName, readonly } = options;
  const { internalFields, customizations, name: collection } = home;
  const relations = [...internalFields].flatMap(([name, field]) => (field.kind === 'column' ? [] : [name]));
  const relation: Field =
    internalFields.get(relationName) ??
    failUnknownName(`The collection '${collection}' has no relation '${relationName}'`, relationName, relations, at);
  if (relation.kind !== 'one')
    failMisuse(`'${relationName}' of '${collection}' does not lead to one record, and cannot be flattened`, at);
  const what = `'${relation.to.name}' has no field`;
  const selected = selectNames(fieldsOf(relation), options, relationName, what, at);
  if (selected.length === 0) failMisuse(`'${relationName}' of '${collection}' has no fields left to flatten`, at);
  for (const field of selected) {
    const name = `${relationName}${SEPARATOR}${field}`;
    if (customizations.added.has(name)) failMisuse(`'${relationName}' of '${collection}' is already flattened`, at);
    const definition = { path: `${relationName}:${field}`, ...(readonly && { readonly }) };
    customizations.added.set(name, { kind: 'importField', name, at, definition });
  }
}

/** `include` without `exclude`. Names may use `:` or `@@@`, and may start with the flattened field. */
function selectNames(
  names: readonly string[],
  { include, exclude = [] }: { readonly include?: readonly string[]; readonly exclude?: readonly string[] },
  of: string,
  what: string,
  at: string,
): readonly string[] {
  const read = (text: string): string => {
    const name = text.replaceAll(SEPARATOR, ':');
    const short = name.startsWith(`${of}:`) ? name.slice(of.length + 1) : name;
    return names.includes(short) ? short : failUnknownName(`${what} '${text}'`, short, names, at);
  };
  const without = new Set(exclude.map(read));
  return (include?.map(read) ?? names).filter((name, index, all) => !without.has(name) && all.indexOf(name) === index);
}
