// The served schema, as front ends of the agent's HTTP API read it: collections with fields, relations, segments and
// actions, by published names. Everything is sorted, including keys, so the text changes only if the model does. A
// relation replaces the column of its foreign key.
import type { Operator } from '../../core/filter.ts';
import type { ActionDescription } from '../actions/catalogue.ts';
import { findInverse } from '../model/inverse.ts';
import type { Collection, Column, Field, Model, Relation } from '../model/types.ts';
import type { ColumnType } from '../sources/column-types.ts';

interface SchemaOptions {
  /** The prefix of the HTTP API, such as `/service`. */
  readonly prefix: string;
  /** The version of this package. */
  readonly version: string;
  /** The version of Node. */
  readonly engineVersion: string;
  readonly actionsOf: (collection: string) => readonly SchemaAction[];
}

/** An action, with its form as front ends read it. */
export interface SchemaAction extends Omit<ActionDescription, 'fields' | 'layout'> {
  readonly fields?: readonly unknown[];
  readonly layout?: readonly unknown[];
}

export interface SchemaFile {
  readonly collections: readonly SchemaCollection[];
  readonly meta: unknown;
}

interface SchemaCollection {
  readonly name: string;
  readonly fields: readonly { readonly field: string }[];
}

export function createSchema(model: Model, options: SchemaOptions): SchemaFile {
  return {
    collections: [...model.collections.values()].map((each) => schemaCollection(each, options)).sort(byText('name')),
    meta: {
      liana: 'service-nodejs-agent',
      liana_features: null,
      liana_version: options.version,
      stack: { engine: 'nodejs', engine_version: options.engineVersion },
    },
  };
}

/** Sorted keys, an indentation of two spaces, and a line break at the end. */
export function printSchema(schema: SchemaFile): string {
  const ordered = (_: string, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  return `${JSON.stringify(schema, ordered, 2)}\n`;
}

function schemaCollection(collection: Collection, options: SchemaOptions) {
  const { name, rules } = collection;
  const writable = collection.readOnly === undefined;
  const actions = options.actionsOf(name);
  return {
    name,
    ...describeIn(collection.meaning),
    ...{ icon: null, integration: null, isVirtual: false, onlyForRelationships: false, paginationType: 'page' },
    isReadOnly: !writable,
    isSearchable: rules.search !== 'none',
    segments: [...rules.segments.keys()].sort().map((segment) => ({ id: `${name}.${segment}`, name: segment })),
    // In the order of definition, because URLs contain the position.
    actions: actions.map((action, index) => schemaAction(name, action, index, options.prefix)),
    fields: [...collection.fields.values()]
      .filter((field) => field.kind !== 'column' || field.isKey || !isForeignKeyColumn(field, collection))
      .map((field) => schemaField(field, collection, writable))
      .sort(byText('field')),
  };
}

function schemaField(field: Field, collection: Collection, writable: boolean) {
  if (field.kind === 'column') return schemaColumn(field, writable);
  return field.recordsColumn ? schemaExternal(field.recordsColumn, field) : schemaRelation(field, collection);
}

const describeIn = (meaning: Collection['meaning']): { readonly description?: string } =>
  meaning?.description === undefined ? {} : { description: meaning.description };

/** Whether the column is a foreign key of one column, which its relation replaces. */
function isForeignKeyColumn(column: Column, { fields }: Collection): boolean {
  return [...fields.values()].some(
    (field) => isToOne(field) && !field.inverse && field.on.length === 1 && field.on[0]?.from === column,
  );
}

function isToOne(field: Field): field is Relation {
  return field.kind === 'one';
}

const common = {
  defaultValue: null,
  enums: [] as readonly string[],
  integration: null,
  inverseOf: null as string | null,
  isPrimaryKey: false,
  isVirtual: false,
  reference: null as string | null,
  validations: [] as readonly unknown[],
};

function schemaColumn(column: Column, writable: boolean) {
  const validations = validationsOf(column);
  return {
    ...common,
    field: column.name,
    ...describeIn(column.meaning),
    type: typeOf(column.type),
    ...(column.binary && { binaryMode: column.binary }),
    enums: [...(column.enumValues ?? [])].sort(),
    isPrimaryKey: column.isKey,
    isReadOnly: column.readOnly || !writable,
    isRequired: validations.some(({ type }) => type === 'is present'),
    isFilterable: column.operators.size > 0,
    isSortable: column.sortable,
    validations,
  };
}

/** Records from code have no collection, so the field is a list of objects with their columns. */
function schemaExternal(recordsColumn: Column, { to }: Relation) {
  const columns = [...to.fields.values()].filter((field) => field.kind === 'column');
  const fields = columns.map(({ name, type }) => ({ field: name, type: typeOf(type) })).sort(byText('field'));
  return { ...schemaColumn(recordsColumn, false), type: [{ fields }] };
}

/** The names of validation operators in front ends. Only the server checks the others. */
const wireNames: { readonly [O in Operator]?: string } = {
  Present: 'is present',
  After: 'is after',
  Before: 'is before',
  Contains: 'contains',
  GreaterThan: 'is greater than',
  GreaterThanOrEqual: 'is greater than or equal to',
  LessThan: 'is less than',
  LessThanOrEqual: 'is less than or equal to',
  LongerThan: 'is longer than',
  ShorterThan: 'is shorter than',
  Like: 'is like',
  Match: 'is like',
};

interface SchemaValidation {
  readonly type: string;
  readonly value?: unknown;
  readonly message: string;
}

function validationsOf({ required, rules = [] }: Column): readonly SchemaValidation[] {
  const all: SchemaValidation[] = required ? [{ type: 'is present', message: 'Field is required' }] : [];
  for (const { operator, value } of rules) {
    const type = wireNames[operator];
    if (type === undefined || (operator === 'Present' && required)) continue;
    if (operator === 'Present') all.push({ type, message: 'Field is required' });
    else {
      all.push({
        type,
        value: formatValue(operator, value),
        message: `Failed validation rule: ${operator}(${String(value)})`,
      });
    }
  }
  const marks = all.map((each) => JSON.stringify(each));
  return all.filter((_, index) => marks.indexOf(marks[index]!) === index);
}

/** Regular expressions become texts between slashes, because JSON does not have them. */
function formatValue(operator: Operator, value: unknown): unknown {
  if (operator === 'Like') return patternToExpression(String(value));
  if (operator !== 'Match') return value;
  return value instanceof RegExp
    ? String(value)
    : `/${String(value).replace(/\\.|\//gs, (part) => (part === '/' ? '\\/' : part))}/`;
}

/** A LIKE pattern as a regular expression: `%` is any text, `_` one character, and `\\` escapes them. */
function patternToExpression(pattern: string): string {
  const parts = pattern.match(/\\?./gsu) ?? [];
  const texts = parts.map((part) => {
    if (part === '%') return '.*';
    return part === '_' ? '.' : part.replace(/^\\(?=.)/s, '').replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  });
  return `/^${texts.join('')}$/`;
}

function schemaRelation(relation: Relation, { name, readOnly }: Collection) {
  const { to, on, inverse } = relation;
  const isMany = relation.kind === 'many';
  const [pair] = on;
  const keys = inverse ? to.key : on.map((each) => each.to);
  const type = typeOf((pair?.to ?? to.key[0])?.type ?? 'String');
  return {
    ...common,
    field: relation.name,
    type: isMany ? [type] : type,
    ...describeIn(relation.meaning),
    relationship: relationshipOf(relation),
    reference: `${to.name}.${keys.map((column) => column.name).join('|')}`,
    inverseOf: findInverse(relation, name)?.name ?? null,
    isReadOnly: readOnly !== undefined,
    isRequired: !inverse && on.some(({ from }) => from.required),
    isFilterable: !isMany,
    isSortable: !isMany,
  };
}

function relationshipOf({ kind, inverse, through }: Relation): string {
  if (through) return 'BelongsToMany';
  if (kind === 'one') return inverse ? 'HasOne' : 'BelongsTo';
  return 'HasMany';
}

function typeOf(type: ColumnType): unknown {
  return typeof type === 'string' ? type : [type[0]];
}

const loading = [{ field: 'Loading...', type: 'String', isReadOnly: true, defaultValue: 'Form is loading' }];

function schemaAction(collection: string, action: SchemaAction, index: number, prefix: string) {
  const slug = action.endpoint.split('/').at(-1) ?? '';
  const isDynamic = action.form === 'dynamic';
  return {
    id: `${collection}-${index}-${slug}`,
    name: action.name,
    type: action.scope.toLowerCase(),
    description: action.description ?? null,
    submitButtonLabel: action.submitButtonLabel ?? null,
    baseUrl: null,
    endpoint: `${prefix}${action.endpoint}`,
    httpMethod: 'POST',
    redirect: null,
    download: action.generateFile,
    fields: isDynamic ? loading : (action.fields ?? []),
    ...(action.layout && { layout: action.layout }),
    hooks: { load: isDynamic, change: ['changeHook'] },
  };
}

function byText<K extends string>(
  key: K,
): (a: { readonly [P in K]: string }, b: { readonly [P in K]: string }) => number {
  return (a, b) => (a[key] < b[key] ? -1 : Number(a[key] > b[key]));
}
