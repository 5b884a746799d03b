// The plugins of this package. They check their options immediately. The build of the model resolves the fields
// (agent/model/flatten.ts).
import { fail } from '../../core/errors.ts';
import { suggestNames } from '../../core/suggestions.ts';
import type { CollectionCustomizer } from './customizer.ts';
import type { FlattenColumnOptions, FlattenJsonColumnOptions, FlattenRelationOptions } from './definitions.ts';

/**
 * Replaces an object column with its parts, as fields `column@@@part`.
 *
 * @example
 * import { flattenColumn } from 'portico/plugins';
 *
 * customers.use(flattenColumn, { columnName: 'address', include: ['street', 'city'] });
 */
export function flattenColumn(collection: CollectionCustomizer, options: FlattenColumnOptions): void {
  checkOptions('flattenColumn', options, columnTable);
  collection.flatten({ of: 'column', options });
}

/**
 * Like `flattenColumn`, for a column without a declared shape; `columnType` declares it.
 *
 * @example
 * import { flattenJsonColumn } from 'portico/plugins';
 *
 * customers.use(flattenJsonColumn, { columnName: 'address', columnType: { street: 'String', city: 'String' } });
 */
export function flattenJsonColumn(collection: CollectionCustomizer, options: FlattenJsonColumnOptions): void {
  checkOptions('flattenJsonColumn', options, jsonTable);
  collection.flatten({ of: 'column', options });
}

/**
 * Adds the fields of a to-one relation as fields `relation@@@field`. The database filters and sorts by them.
 *
 * @example
 * import { flattenRelation } from 'portico/plugins';
 *
 * orders.use(flattenRelation, { relationName: 'customer', include: ['name', 'city'] });
 */
export function flattenRelation(collection: CollectionCustomizer, options: FlattenRelationOptions): void {
  checkOptions('flattenRelation', options, relationTable);
  collection.flatten({ of: 'relation', options });
}

type OptionKind = readonly [expected: string, holds: (value: unknown) => boolean, needed?: 'needed'];

const isName = (value: unknown): boolean => typeof value === 'string' && value !== '';
const name: OptionKind = ['a name', isName, 'needed'];
const names: OptionKind = ['a list of names', (value) => Array.isArray(value) && value.every(isName)];
const level: OptionKind = ['a whole number, 1 or more', (value) => Number.isInteger(value) && Number(value) >= 1];
const flag: OptionKind = ['true or false', (value) => typeof value === 'boolean'];
const shape: OptionKind = [
  'an object of types by key',
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
];

type OptionTable = Readonly<Record<string, OptionKind>>;
const columnTable: OptionTable = {
  columnName: name,
  include: names,
  exclude: names,
  level,
  readonly: flag,
  columnType: shape,
};
const jsonTable: OptionTable = {
  columnName: name,
  columnType: [shape[0], shape[1], 'needed'],
  level,
  readonly: flag,
  keepOriginalColumn: flag,
};
const relationTable: OptionTable = { relationName: name, include: names, exclude: names, readonly: flag };

/** CONFIGURATION; `use` adds the call site. */
function checkOptions(plugin: string, options: object | undefined, table: OptionTable): void {
  const refuse = (problem: string) => fail('CONFIGURATION', { problem: `${plugin}: ${problem}.` });
  if (typeof options !== 'object' || options === null) refuse(`it needs options: ${Object.keys(table).join(', ')}`);
  const given = options as Readonly<Record<string, unknown>>;
  for (const option of Object.keys(given)) {
    if (option in table) continue;
    const near = suggestNames(option, Object.keys(table));
    const offered = near.length ? `Near: ${near.join(', ')}` : `Known: ${Object.keys(table).join(', ')}`;
    refuse(`there is no option '${option}'. ${offered}`);
  }
  for (const [option, [expected, holds, needed]] of Object.entries(table)) {
    const value = given[option];
    if (value === undefined ? needed : !holds(value)) refuse(`'${option}' must be ${expected}`);
  }
}
