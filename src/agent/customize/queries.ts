// Queries of `addQuery`: the checks of their options, and the customizations of their collections.
import { nameRowScope } from '../model/queries.ts';
import type { QueryDefinition, QueryEntry, QueryParameter } from './definitions.ts';
import { checkOptions, isText, type OptionRules, refuseOption } from './option-checks.ts';
import type { Recording } from './recording.ts';

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isLine = (value: unknown): boolean => typeof value === 'string' && value.length <= 500;
const isName = (text: string): boolean => /^[A-Za-z_]\w{0,39}$/.test(text);

/** A canonical date, cut at this many characters. */
const isDate = (value: unknown, length: number): boolean => {
  const date = new Date(String(value));
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, length) === value;
};

const line = { expected: 'a text of at most 500 characters', accepts: isLine } as const;

const rules: OptionRules<QueryDefinition> = {
  sql: { expected: 'the text of one SELECT', accepts: isText, required: true },
  parameters: { expected: "a map such as { from: { type: 'Dateonly' } }", accepts: isMap },
  columns: { expected: "a map of types by column, such as { month: 'Dateonly' }", accepts: isMap },
  rowScope: {
    expected: "a map of columns by collection, such as { customers: 'customer_id' }",
    accepts: (value) => isMap(value) && Object.values(value).every(isText),
  },
  ignoreRowScopes: {
    expected: 'a list of names of collections',
    accepts: (value) => Array.isArray(value) && value.every(isText),
  },
  beside: { expected: 'the name of a collection', accepts: isText },
  description: line,
};

/** Whether a default fits each type of a parameter. */
const fits: Readonly<Record<QueryParameter['type'], (value: unknown) => boolean>> = {
  String: (value) => typeof value === 'string',
  Number: Number.isFinite,
  Boolean: (value) => typeof value === 'boolean',
  Date: (value) => isDate(value, 24),
  Dateonly: (value) => isDate(value, 10),
};

const examples: Readonly<Record<QueryParameter['type'], string>> = {
  String: "'paid'",
  Number: '10',
  Boolean: 'true',
  Date: "'2026-01-31T08:00:00.000Z'",
  Dateonly: "'2026-01-31'",
};

const parameterRules: OptionRules<QueryParameter> = {
  type: {
    expected: `one of ${Object.keys(fits).join(', ')}`,
    accepts: (value) => typeof value === 'string' && Object.hasOwn(fits, value),
    required: true,
  },
  default: { expected: 'a value of its type, or null', accepts: () => true },
  description: line,
};

/** CONFIGURATION, with the user's line. */
export function checkQuery(name: string, definition: QueryDefinition, at: string): void {
  const call = `addQuery('${name}')`;
  if (!isText(name) || !isName(name))
    refuseOption('addQuery needs a name of at most 40 letters, digits and underscores', at);
  checkOptions(call, definition, rules, at);
  for (const [parameter, given] of Object.entries(definition.parameters ?? {})) {
    if (!isName(parameter)) refuseOption(`${call}: '${parameter}' is no name of a parameter`, at);
    checkOptions(`${call}: the parameter '${parameter}'`, given, parameterRules, at);
    if (given.default !== undefined && given.default !== null && !fits[given.type](given.default))
      refuseOption(
        `${call}: the default of '${parameter}' must be a ${given.type}, such as ${examples[given.type]}`,
        at,
      );
  }
}

/** Adds the relations and meanings of the query to its collection. */
export function recordQuery({ name, definition, at }: QueryEntry, recording: Recording): void {
  const { description, rowScope = {}, parameters = {} } = definition;
  if (description) recording.add({ collection: name, at, what: { kind: 'meaning', meaning: { description } } });
  for (const [foreign, foreignKey] of Object.entries(rowScope)) {
    const options = { foreignKey: foreignKey! };
    const relation = nameRowScope(foreign, foreignKey!);
    recording.add({ collection: name, at, what: { kind: 'toOne', name: relation, foreign, options } });
  }
  for (const [parameter, given] of Object.entries(parameters))
    if (given.description)
      recording.add({
        ...{ collection: name, at },
        what: { kind: 'fieldMeaning', name: parameter, meaning: { description: given.description } },
      });
}
