// Checks for the options of customizer methods. TypeScript finds a misspelled option, but JavaScript does not. Each
// table has a row for every property of its interface.

import type { PlainSort } from '../../core/filter.ts';
import { quantifiers } from '../../core/filter.ts';
import type {
  ComputedDefinition,
  ExternalRelationDefinition,
  ImportDefinition,
  ManyToManyOptions,
  ManyToOneOptions,
  OneToManyOptions,
  PolymorphicManyToOneOptions,
  PolymorphicOneToManyOptions,
  PolymorphicTarget,
} from './definitions.ts';
import { checkRows, isText, type OptionRow, type OptionRows, refuseOption } from './option-checks.ts';

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const name: OptionRow = { expected: 'the name of a field', takes: isText };
const flag: OptionRow = { expected: 'true or false', takes: (value) => typeof value === 'boolean' };
/** The build of the model checks these values. */
const any: OptionRow = { expected: 'a value', takes: () => true };
const needed = (row: OptionRow): OptionRow => ({ ...row, required: true });

const computed: OptionRows<ComputedDefinition> = {
  columnType: any,
  dependencies: any,
  getValues: any,
  defaultValue: any,
  enumValues: any,
};

const imported: OptionRows<ImportDefinition> = {
  path: needed({ expected: "a path such as 'customer:name'", takes: isText }),
  readonly: flag,
};

const manyToOne: OptionRows<ManyToOneOptions> = { foreignKey: needed(name), foreignKeyTarget: name };
const oneToMany: OptionRows<OneToManyOptions> = { originKey: needed(name), originKeyTarget: name };
const manyToMany: OptionRows<ManyToManyOptions> = {
  ...{ originKey: needed(name), foreignKey: needed(name) },
  ...{ originKeyTarget: name, foreignKeyTarget: name },
};
const external: OptionRows<ExternalRelationDefinition> = { schema: any, listRecords: any, dependencies: any };
const polymorphicToOne: OptionRows<PolymorphicManyToOneOptions> = {
  foreignKey: needed(name),
  typeField: needed(name),
  targets: needed({ expected: 'an object that gives a collection for each type', takes: isObject }),
};
const polymorphicTarget: OptionRows<PolymorphicTarget> = {
  collection: needed({ expected: 'the name of a collection', takes: isText }),
  foreignKeyTarget: name,
  name,
};
const polymorphicToMany: OptionRows<PolymorphicOneToManyOptions> = {
  ...oneToMany,
  typeField: needed(name),
  type: needed({ expected: 'a text', takes: isText }),
};
const sort: OptionRows<PlainSort> = { field: needed(name), ascending: flag };

const tables = {
  ...{ computed, imported, manyToOne, oneToMany, manyToMany, external, polymorphicToOne, polymorphicTarget },
  ...{ polymorphicToMany, sort },
};

/** CONFIGURATION, with similar names and the user's line. `call` is a text such as `addField('total')`. */
export function checkGiven(kind: keyof typeof tables, call: string, given: unknown, at: string): void {
  checkRows(call, given, tables[kind], at);
}

const leaf = { field: any, operator: any, value: any };
const branch = { aggregator: any, conditions: any };

/** Checks the property names of a filter at every depth. The build of the model checks fields and values. */
export function checkPlainFilter(call: string, given: unknown, at: string): void {
  if (!isObject(given))
    refuseOption(`${call} needs a filter, such as { field, operator, value }, or a function that gives one`, at);
  const { conditions, where } = given as { readonly conditions?: unknown; readonly where?: unknown };
  const quantifier = quantifiers.find((each) => each in given);
  if (quantifier !== undefined) {
    checkRows(call, given, { [quantifier]: any, where: any }, at);
    if (where !== undefined) checkPlainFilter(call, where, at);
  } else if ('aggregator' in given || 'conditions' in given) {
    checkRows(call, given, branch, at);
    if (!Array.isArray(conditions)) refuseOption(`${call}: 'conditions' must be a list of filters`, at);
    for (const each of conditions) checkPlainFilter(call, each, at);
  } else checkRows(call, given, leaf, at);
}
