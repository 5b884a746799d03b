// What a caller is told of a collection: nothing that is hidden from the caller is counted, named or hinted at.
import type { Access } from '../../core/caller.ts';
import type { CollectionDescription, CollectionSummary, FieldDescription } from '../engine.ts';
import type { ColumnType } from '../sources/source.ts';
import type { Collection, Column, Relation } from './types.ts';

/** The fields that the caller sees. */
export interface Visible {
  readonly columns: readonly Column[];
  readonly relations: readonly Relation[];
}

export function summarizeCollection(
  access: Access,
  { name, kind, source }: Collection,
  visible: Visible,
): CollectionSummary {
  const { add, edit, delete: remove } = permissions(access, name);
  return {
    name,
    kind,
    fields: visible.columns.length,
    relations: visible.relations.map((relation) => relation.name),
    writable: kind === 'table' && source.writing !== undefined && (add || edit || remove),
  };
}

export function describeCollection(
  access: Access,
  collection: Collection,
  { columns, relations }: Visible,
): CollectionDescription {
  return {
    name: collection.name,
    kind: collection.kind,
    key: collection.key.every((column) => columns.includes(column)) ? collection.key.map((column) => column.name) : [],
    fields: columns.map((column) => describeColumn(access, collection, column)),
    relations: relations.map(({ name, kind, to, on }) => ({
      name,
      kind,
      to: to.name,
      columns: on
        .map(({ from }) => from)
        .filter((column) => columns.includes(column))
        .map((column) => column.name),
    })),
    segments: [...collection.rules.segments.keys()],
    searchable: collection.rules.search !== 'none',
    countable: collection.rules.countable,
    permissions: permissions(access, collection.name),
  };
}

function describeColumn(access: Access, collection: Collection, column: Column): FieldDescription {
  return {
    name: column.name,
    type: typeName(column.type),
    nullable: column.nullable,
    readOnly: column.readOnly || access.field(collection.name, column.name) !== 'write',
    required: column.required,
    isKey: column.isKey,
    sortable: column.sortable,
    ...(column.enumValues && { enumValues: column.enumValues }),
    operators: [...column.operators.keys()],
  };
}

function typeName(type: ColumnType): string {
  return typeof type === 'string' ? type : `[${type[0]}]`;
}

function permissions(access: Access, name: string): CollectionDescription['permissions'] {
  return { add: access.can('add', name), edit: access.can('edit', name), delete: access.can('delete', name) };
}
