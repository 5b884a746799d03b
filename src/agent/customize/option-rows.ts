// Checks for the options of customizer methods. TypeScript finds a misspelled option, but JavaScript does not. Each
// table has a row for every property of its interface.

import { type FieldMeaning, fieldMeaningRules, type Meaning, meaningRules } from '../../core/caller/meanings.ts';
import type { PlainSort } from '../../core/filter.ts';
import { quantifiers } from '../../core/filter.ts';
import type { MeasuresChart } from '../charts/definitions.ts';
import type {
  ComputedDefinition,
  DataSourceOptions,
  ExternalRelationDefinition,
  ImportDefinition,
  ManyToManyOptions,
  ManyToOneOptions,
  MetricDefinition,
  MinGroupSizeOptions,
  OneToManyOptions,
  PolymorphicManyToOneOptions,
  PolymorphicOneToManyOptions,
  PolymorphicTarget,
} from './definitions.ts';
import { checkOptions, isText, type OptionRule, type OptionRules, refuseOption } from './option-checks.ts';
import type { WorkflowOptions } from './workflow-entry.ts';

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

const isListOf =
  (most: number, accepts: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    Array.isArray(value) && value.length <= most && value.every(accepts);
const meaning: OptionRules<Meaning> = meaningRules;
const fieldMeaning: OptionRules<FieldMeaning> = fieldMeaningRules;

const metric: OptionRules<MetricDefinition> = {
  collection: required({ expected: 'the name of a collection', accepts: isText }),
  measure: required({ expected: "a measure such as { sum: 'total' }", accepts: isObject }),
  filter: any,
  description: meaning.description,
};

const minGroupSize: OptionRules<MinGroupSizeOptions> = {
  fields: { expected: "a list of fields, such as ['salary']", accepts: isListOf(200, isText) },
  by: {
    expected: "a list of fields and groups, such as ['city', { field: 'hired_at', bucket: 'Year' }]",
    accepts: isListOf(50, (each) => isText(each) || isObject(each)),
  },
};

const chart: OptionRules<MeasuresChart> = {
  collection: metric.collection,
  measures: required({ expected: 'measures by name, such as { orders: { count: true } }', accepts: isObject }),
  groups: { expected: 'a list of at most 2 groups', accepts: isListOf(2, (value) => isText(value) || isObject(value)) },
  ...{ filter: any, segment: any, search: any, having: any, sort: any, top: any, compare: any, over: any },
  includeEmpty: flag,
  limit: { expected: 'a whole number, 1 or more', accepts: (value) => Number.isInteger(value) && Number(value) > 0 },
  timezone: { expected: 'the IANA name of a timezone', accepts: isText },
};

const definitionRules = {
  ...{ computed, imported, manyToOne, oneToMany, manyToMany, external, polymorphicToOne, polymorphicTarget },
  ...{ polymorphicToMany, sort, meaning, fieldMeaning, metric, minGroupSize, chart },
};

/** CONFIGURATION, with similar names and the user's line. `call` is a text such as `addField('total')`. */
export function checkDefinition(kind: keyof typeof definitionRules, call: string, given: unknown, at: string): void {
  checkOptions(call, given, definitionRules[kind], at);
}

/** Checks the properties of the metric and of its filter. */
export function checkMetric({ name, definition }: { name: string; definition: MetricDefinition }, at: string): void {
  const call = `addMetric('${name}')`;
  checkDefinition('metric', call, definition, at);
  if (definition.filter !== undefined) checkPlainFilter(`${call}: the filter`, definition.filter, at);
}

/** Checks that the chart of an agent is a function, or measures. */
export function checkChart(name: string, definition: unknown, at: string): void {
  if (typeof definition === 'function') return;
  if (!isObject(definition) || !('measures' in definition))
    refuseOption(
      `The chart '${name}' must be a function of the context and the result builder, or measures of a collection`,
      at,
    );
  checkDefinition('chart', `addChart('${name}')`, definition, at);
}

const isNameList = isListOf(Number.POSITIVE_INFINITY, (each) => typeof each === 'string');
const names: OptionRule = { expected: 'a list of names', accepts: isNameList };
export const sourceOptionRules: OptionRules<DataSourceOptions> = {
  include: names,
  exclude: names,
  rename: {
    expected: "a map of names in the source to names of collections, such as { customers: 'clients' }",
    accepts: (value) => typeof value === 'object' && !Array.isArray(value) && isNameList(Object.values(value ?? {})),
  },
  prefix: { expected: "a text, such as 'crm.'", accepts: isText },
};
export const workflowOptionRules: OptionRules<WorkflowOptions> = {
  teams: { expected: 'a list of names of teams', accepts: isNameList },
};

const leaf = { field: any, expression: any, operator: any, value: any, other: any };
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
