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
import { checkOptions, isText, type OptionRule, type OptionRules, refuseOption } from './option-checks.ts';

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const name: OptionRule = { expected: 'the name of a field', accepts: isText };
const flag: OptionRule = { expected: 'true or false', accepts: (value) => typeof value === 'boolean' };
/** The build of the model checks these values. */
const any: OptionRule = { expected: 'a value', accepts: () => true };
const required = (row: OptionRule): OptionRule => ({ ...row, required: true });

const computed: OptionRules<ComputedDefinition> = {
  columnType: any,
  dependencies: any,
  getValues: any,
  defaultValue: any,
  enumValues: any,
};

const imported: OptionRules<ImportDefinition> = {
  path: required({ expected: "a path such as 'customer:name'", accepts: isText }),
  readonly: flag,
};

const manyToOne: OptionRules<ManyToOneOptions> = { foreignKey: required(name), foreignKeyTarget: name };
const oneToMany: OptionRules<OneToManyOptions> = { originKey: required(name), originKeyTarget: name };
const manyToMany: OptionRules<ManyToManyOptions> = {
  ...{ originKey: required(name), foreignKey: required(name) },
  ...{ originKeyTarget: name, foreignKeyTarget: name },
};
const external: OptionRules<ExternalRelationDefinition> = { schema: any, listRecords: any, dependencies: any };
const polymorphicToOne: OptionRules<PolymorphicManyToOneOptions> = {
  foreignKey: required(name),
  typeField: required(name),
  targets: required({ expected: 'an object with a collection for each type', accepts: isObject }),
};
const polymorphicTarget: OptionRules<PolymorphicTarget> = {
  collection: required({ expected: 'the name of a collection', accepts: isText }),
  foreignKeyTarget: name,
  name,
};
const polymorphicToMany: OptionRules<PolymorphicOneToManyOptions> = {
  ...oneToMany,
  typeField: required(name),
  type: required({ expected: 'a string', accepts: isText }),
};
const sort: OptionRules<PlainSort> = { field: required(name), ascending: flag };

const definitionRules = {
  ...{ computed, imported, manyToOne, oneToMany, manyToMany, external, polymorphicToOne, polymorphicTarget },
  ...{ polymorphicToMany, sort },
};

/** CONFIGURATION, with similar names and the user's line. `call` is a text such as `addField('total')`. */
export function checkDefinition(kind: keyof typeof definitionRules, call: string, given: unknown, at: string): void {
  checkOptions(call, given, definitionRules[kind], at);
}

const leaf = { field: any, operator: any, value: any };
const branch = { aggregator: any, conditions: any };

/** Checks the property names of a filter at every depth. The build of the model checks fields and values. */
export function checkPlainFilter(call: string, given: unknown, at: string): void {
  if (!isObject(given))
    refuseOption(`${call} needs a filter, such as { field, operator, value }, or a function that returns one`, at);
  const { conditions, where } = given as { readonly conditions?: unknown; readonly where?: unknown };
  const quantifier = quantifiers.find((each) => each in given);
  if (quantifier !== undefined) {
    checkOptions(call, given, { [quantifier]: any, where: any }, at);
    if (where !== undefined) checkPlainFilter(call, where, at);
  } else if ('aggregator' in given || 'conditions' in given) {
    checkOptions(call, given, branch, at);
    if (!Array.isArray(conditions)) refuseOption(`${call}: 'conditions' must be a list of filters`, at);
    for (const each of conditions) checkPlainFilter(call, each, at);
  } else checkOptions(call, given, leaf, at);
}
