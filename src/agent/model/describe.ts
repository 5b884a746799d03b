// Describes collections to a caller. Hidden fields are never counted, named or hinted at.
import type { StoredSegment } from '../../core/caller/meanings.ts';
import type { Access } from '../../core/caller.ts';
import type { PlainGroup } from '../../core/filter/measures.ts';
import type { CollectionDescription, CollectionSummary, FieldDescription } from '../requests.ts';
import type { ColumnShape, ColumnType } from '../sources/column-types.ts';
import { findDisplayField } from './display.ts';
import { collectionMeaning, fieldMeaning } from './meaning.ts';
import type { Collection, Column, Relation } from './types.ts';

/** What the caller sees. */
interface VisibleFields {
  readonly columns: readonly Column[];
  readonly relations: readonly Relation[];
}

interface VisibleDefinitions {
  readonly metrics: CollectionDescription['metrics'];
  /** Those of the console. */
  readonly segments: ReadonlyMap<string, StoredSegment>;
}

export function summarizeCollection(access: Access, collection: Collection, visible: VisibleFields): CollectionSummary {
  const { name, kind, readOnly, rules } = collection;
  const { overrides } = rules;
  const { add, edit, delete: remove } = describePermissions(access, name);
  // Code may write even if the data source cannot.
  const can = { create: add, update: edit, delete: remove };
  const writable = (['create', 'update', 'delete'] as const).some(
    (verb) => can[verb] && (readOnly === undefined || overrides[verb]),
  );
  return {
    name,
    kind,
    ...collectionMeaning(access, collection),
    fields: visible.columns.length,
    relations: visible.relations.map((relation) => relation.name),
    writable,
  };
}

export function describeCollection(
  access: Access,
  collection: Collection,
  { columns, relations }: VisibleFields,
  aggregated: readonly Column[],
  { metrics, segments }: VisibleDefinitions,
): CollectionDescription {
  const { minGroupSize } = collection.rules;
  const segmentTexts = [...segments].flatMap(([name, { description }]) =>
    description === undefined ? [] : [[name, description] as const],
  );
  const displayField = findDisplayField(
    collection,
    columns,
    (column) => fieldMeaning(access, collection, column)?.hiddenByDefault === true,
  );
  return {
    name: collection.name,
    kind: collection.kind,
    ...collectionMeaning(access, collection),
    key: collection.key.every((column) => columns.includes(column)) ? collection.key.map((column) => column.name) : [],
    ...(displayField && { displayField: displayField.name }),
    fields: columns.map((column) => describeColumn(access, collection, column)),
    relations: relations.map((relation) => {
      const { name, formerly, kind, to, on, through, recordsColumn: given, only, isWritten, lowestBy } = relation;
      const references = kind === 'one' && !through && !given ? findReferences(access, relation) : undefined;
      return {
        name,
        ...fieldMeaning(access, collection, relation),
        ...(formerly !== undefined && { formerly }),
        kind,
        to: to.name,
        ...(given && {
          fields: Object.fromEntries(
            [...to.fields].map(([field, each]) => [field, each.kind === 'column' ? formatType(each.type) : '']),
          ),
        }),
        ...(isWritten && canWriteTogether(access, to) && { isWritten }),
        ...(lowestBy && { isLowest: true as const }),
        ...(only && { only: { field: only.column.name, value: only.value } }),
        ...(through?.collection.isPublished && { through: through.collection.name }),
        columns: (through?.origin ?? on)
          .map(({ from }) => from)
          .filter((column) => columns.includes(column))
          .map((column) => column.name),
        ...(references && { references }),
      };
    }),
    segments: [...collection.rules.segments.keys(), ...segments.keys()],
    ...(segmentTexts.length > 0 && { segmentDescriptions: Object.fromEntries(segmentTexts) }),
    metrics,
    ...(minGroupSize && {
      aggregates: {
        minGroupSize: minGroupSize.size,
        fields: aggregated.flatMap((column) =>
          columns.includes(column) ? [] : [describeColumn(access, collection, column)],
        ),
        by: minGroupSize.by.flatMap((group) => toPublishedGroup(collection, group, aggregated)),
      },
    }),
    searchable: collection.rules.search !== 'none',
    countable: collection.rules.countable,
    permissions: describePermissions(access, collection.name),
  };
}

/** Undefined if the relation holds the key of the foreign collection, in its order. */
function findReferences(access: Access, { to, on, inverse }: Relation): readonly string[] | undefined {
  const held = on.map((pair) => pair.to);
  if (!inverse && held.length === to.key.length && held.every((column, at) => to.key[at] === column)) return undefined;
  const isVisible = ({ name }: Column) => to.fields.has(name) && access.field(to.name, name) !== 'hidden';
  return !inverse && held.every(isVisible) ? held.map(({ name }) => name) : [];
}

/** In the names of callers. None if its first field is hidden. */
function toPublishedGroup(
  home: Collection,
  group: string | PlainGroup,
  columns: readonly Column[],
): readonly (string | PlainGroup)[] {
  const written = typeof group === 'string' ? group : group.field;
  const names: string[] = [];
  let at = home;
  for (const name of written.split(':')) {
    const field = at.internalFields.get(name);
    if (!field || (at === home && field.kind === 'column' && !columns.includes(field))) return [];
    names.push(field.name);
    if (field.kind !== 'column') at = field.to;
  }
  const field = names.join(':');
  return [typeof group === 'string' ? field : { ...group, field }];
}

function canWriteTogether(access: Access, { name }: Collection): boolean {
  return access.can('edit', name) || access.can('add', name);
}

function describeColumn(access: Access, collection: Collection, column: Column): FieldDescription {
  return {
    name: column.name,
    ...fieldMeaning(access, collection, column),
    type: column.shape ? formatShape(column.shape) : formatType(column.type),
    nullable: column.nullable,
    readOnly:
      column.readOnly || access.field(collection.name, column.name) !== 'write' || isReadOnlyForCaller(access, column),
    required: column.required,
    isKey: column.isKey,
    sortable: column.sortable,
    ...(column.timezone && { timezone: column.timezone }),
    ...(column.enumValues && { enumValues: column.enumValues }),
    ...(column.binary && { binaryMode: column.binary }),
    operators: [...column.operators.keys()],
    ...(column.parameter && { parameter: column.parameter }),
  };
}

/** True for an imported field whose original is read-only for the caller. */
function isReadOnlyForCaller(access: Access, { route }: Column): boolean {
  const to = route?.via.at(-1)?.to;
  if (!route || !to?.isPublished || to.fields.get(route.field.name) !== route.field) return false;
  return access.field(to.name, route.field.name) !== 'write' || !access.can('edit', to.name);
}

function formatType(type: ColumnType): string {
  return typeof type === 'string' ? type : `[${type[0]}]`;
}

function formatShape(shape: ColumnShape): string {
  if (typeof shape === 'string') return shape;
  if (Array.isArray(shape)) return `[${formatShape(shape[0])}]`;
  return `{ ${Object.entries(shape)
    .map(([key, of]) => `${key}: ${formatShape(of)}`)
    .join(', ')} }`;
}

function describePermissions(access: Access, name: string): CollectionDescription['permissions'] {
  return { add: access.can('add', name), edit: access.can('edit', name), delete: access.can('delete', name) };
}
