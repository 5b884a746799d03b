// Groups the recorded calls by collection and field, for the passes of the build. `checkCustomizations` checks the names at the
// end, when all fields exist.

import type { FieldMeaning, Meaning } from '../../core/caller/meanings.ts';
import { fail } from '../../core/errors.ts';
import type { Operator } from '../../core/filter.ts';
import { suggestNames } from '../../core/suggestions.ts';
import type { BinaryMode, Customization, MinGroupSizeOptions, RecordedCall } from '../customize/definitions.ts';
import type { Hook, HookPosition, HookType, Override, OverrideVerb } from '../customize/hooks.ts';
import type { ColumnCustomizations } from './fields.ts';
import type { Column, Field, FieldWriting, Metric, MinGroupSize, Replacement, Rules, Segment } from './types.ts';

type CustomizationOf<K extends Customization['kind']> = Extract<Customization, { readonly kind: K }>;
export type AddedField = (
  | CustomizationOf<'addField'>
  | CustomizationOf<'importField'>
  | CustomizationOf<'external'>
) & { readonly at: string };
type FlattenedField = CustomizationOf<'flatten'> & { readonly at: string };
export type DeclaredRelation = (
  | CustomizationOf<'toOne'>
  | CustomizationOf<'fromOther'>
  | CustomizationOf<'throughOther'>
) & { readonly at: string };

interface OperatorCustomizations {
  readonly replacements: Map<Operator, { readonly by: 'here' | Replacement; readonly at: string }>;
  emulatedAt?: string;
}

export interface CollectionCustomizations {
  /** From the original name to the published one. */
  readonly renames: Map<string, { readonly to: string; readonly at: string }>;
  readonly removed: Map<string, string>;
  meaning: { readonly meaning: Meaning; readonly at: string } | undefined;
  readonly fieldMeanings: Map<string, { readonly meaning: FieldMeaning; readonly at: string }>;
  readonly added: Map<string, AddedField>;
  readonly relations: DeclaredRelation[];
  readonly operators: Map<string, OperatorCustomizations>;
  readonly sorts: Map<string, { readonly by: NonNullable<ColumnCustomizations['order']>; readonly at: string }>;
  readonly nullable: Map<string, string>;
  readonly filledByDatabase: Map<string, string>;
  readonly flattened: FlattenedField[];
  readonly binaryModes: Map<string, { readonly mode: BinaryMode; readonly at: string }>;
  readonly segments: Map<string, Segment>;
  readonly metrics: Map<string, Metric>;
  search: Rules['search'];
  countable: boolean;
  minGroupSize: { readonly size: number; readonly options: MinGroupSizeOptions; readonly at: string } | undefined;
  displayField: Rules['displayField'];
  readonly hooks: { readonly [P in HookPosition]: { readonly [T in HookType]: Hook<never>[] } };
  readonly validations: Map<string, Validation[]>;
  readonly writings: Map<string, FieldWriting>;
  readonly overrides: { [V in OverrideVerb]?: Override<V> };
  /** Relations with nested writes for assistants, and the call sites. */
  readonly nestedWrites: Map<string, string>;
  /** Relations whose keys all have their target, as code says, and the call sites. */
  readonly trustedKeys: Map<string, string>;
}

export interface Validation {
  readonly operator: Operator;
  readonly value: unknown;
  readonly at: string;
}

export function createCollectionCustomizations(): CollectionCustomizations {
  return {
    renames: new Map(),
    removed: new Map(),
    meaning: undefined,
    fieldMeanings: new Map(),
    added: new Map(),
    relations: [],
    operators: new Map(),
    sorts: new Map(),
    nullable: new Map(),
    filledByDatabase: new Map(),
    flattened: [],
    binaryModes: new Map(),
    segments: new Map(),
    metrics: new Map(),
    search: 'columns',
    countable: true,
    minGroupSize: undefined,
    displayField: undefined,
    hooks: { Before: noHooks(), After: noHooks() },
    validations: new Map(),
    writings: new Map(),
    overrides: {},
    nestedWrites: new Map(),
    trustedKeys: new Map(),
  };
}

const noHooks = () => ({ List: [], Create: [], Update: [], Delete: [], Aggregate: [] });

/** By collection, in the order of the calls. CONFIGURATION for contradictory calls. */
export function collectCustomizations(
  recorded: readonly RecordedCall[],
): Map<string, CollectionCustomizations & { readonly at: string }> {
  const all = new Map<string, CollectionCustomizations & { readonly at: string }>();
  for (const { collection, at, what } of recorded) {
    let customizations = all.get(collection);
    if (!customizations) {
      customizations = { ...createCollectionCustomizations(), at };
      all.set(collection, customizations);
    }
    addCustomization(customizations, collection, what, at);
  }
  return all;
}

function addCustomization(
  customizations: CollectionCustomizations,
  collection: string,
  what: Customization,
  at: string,
): void {
  const requireFirst = (known: { readonly at: string } | undefined, description: string) => {
    if (known) failMisuse(`The ${description} of '${collection}' is already defined, at ${known.at}`, at);
  };
  switch (what.kind) {
    // createActions and createCharts process these.
    case 'action':
    case 'chart':
      return;
    case 'renameField': {
      checkName(what.newName, at);
      // The name may be that of an earlier rename.
      const renamed = [...customizations.renames].find(([, { to }]) => to === what.name)?.[0] ?? what.name;
      customizations.renames.set(renamed, { to: what.newName, at });
      return;
    }
    case 'removeField': {
      const renamed = [...customizations.renames].find(([, { to }]) => to === what.name)?.[0] ?? what.name;
      customizations.removed.set(renamed, at);
      return;
    }
    case 'meaning':
    case 'fieldMeaning':
    case 'displayField':
    case 'minGroupSize':
    case 'metric':
      addMeaning(customizations, what, at, requireFirst);
      return;
    case 'addField':
    case 'importField':
    case 'external':
      checkName(what.name, at);
      requireFirst(customizations.added.get(what.name), `field '${what.name}'`);
      customizations.added.set(what.name, { ...what, at });
      return;
    case 'toOne':
    case 'fromOther':
    case 'throughOther':
      checkName(what.name, at);
      requireFirst(
        customizations.relations.find(({ name }) => name === what.name),
        `relation '${what.name}'`,
      );
      customizations.relations.push({ ...what, at });
      return;
    case 'replaceOperator':
    case 'emulateOperator': {
      const known: OperatorCustomizations = customizations.operators.get(what.name) ?? { replacements: new Map() };
      customizations.operators.set(what.name, known);
      if (what.kind === 'emulateOperator' && !what.operator) {
        known.emulatedAt = at;
        return;
      }
      const operator = what.operator!;
      requireFirst(known.replacements.get(operator), `operator '${operator}' on '${what.name}'`);
      const by = what.kind === 'replaceOperator' ? Object.freeze({ replace: what.replace, at }) : 'here';
      known.replacements.set(operator, { by, at });
      return;
    }
    case 'sort':
      requireFirst(customizations.sorts.get(what.name), `sorting of '${what.name}'`);
      customizations.sorts.set(what.name, { by: what.by, at });
      return;
    case 'nullable':
      customizations.nullable.set(what.name, at);
      // A nullable field need not be present.
      customizations.validations.set(
        what.name,
        (customizations.validations.get(what.name) ?? []).filter(({ operator }) => operator !== 'Present'),
      );
      return;
    case 'filledByDatabase':
      customizations.filledByDatabase.set(what.name, at);
      return;
    case 'flatten':
      customizations.flattened.push({ ...what, at });
      return;
    case 'binaryMode':
      requireFirst(customizations.binaryModes.get(what.name), `binary mode of '${what.name}'`);
      customizations.binaryModes.set(what.name, { mode: what.mode, at });
      return;
    case 'addSegment':
      requireFirst(customizations.segments.get(what.name), `segment '${what.name}'`);
      customizations.segments.set(what.name, { definition: what.definition, at });
      return;
    case 'search':
      customizations.search = what.replace ? { replace: what.replace, at } : 'none';
      return;
    case 'disableCount':
      customizations.countable = false;
      return;
    case 'hook':
      customizations.hooks[what.position][what.type].push({ handler: what.handler, at });
      return;
    case 'validation': {
      const { operator, value } = what;
      customizations.validations.set(what.name, [
        ...(customizations.validations.get(what.name) ?? []),
        { operator, value, at },
      ]);
      return;
    }
    case 'writing':
      requireFirst(customizations.writings.get(what.name), `writing of '${what.name}'`);
      customizations.writings.set(what.name, Object.freeze({ write: what.write, at }));
      return;
    case 'nestedWrites':
      customizations.nestedWrites.set(what.name, at);
      return;
    case 'trustedKey':
      customizations.trustedKeys.set(what.name, at);
      return;
    case 'override':
      requireFirst(customizations.overrides[what.verb], `override of ${what.verb}`);
      Object.assign(customizations.overrides, { [what.verb]: Object.freeze({ handler: what.handler, at }) });
      return;
  }
}

function addMeaning(
  customizations: CollectionCustomizations,
  what: CustomizationOf<'meaning' | 'fieldMeaning' | 'displayField' | 'metric' | 'minGroupSize'>,
  at: string,
  requireFirst: (known: { readonly at: string } | undefined, description: string) => void,
): void {
  if (what.kind === 'meaning') {
    requireFirst(customizations.meaning, 'meaning');
    customizations.meaning = { meaning: what.meaning, at };
  } else if (what.kind === 'minGroupSize') {
    requireFirst(customizations.minGroupSize, 'minimum group size');
    customizations.minGroupSize = { ...what, at };
  } else if (what.kind === 'displayField') {
    requireFirst(customizations.displayField, 'display field');
    customizations.displayField = { name: what.name, at };
  } else if (what.kind === 'metric') {
    checkName(what.name, at);
    requireFirst(customizations.metrics.get(what.name), `metric '${what.name}'`);
    customizations.metrics.set(what.name, Object.freeze({ definition: what.definition, at }));
  } else {
    requireFirst(customizations.fieldMeanings.get(what.name), `meaning of '${what.name}'`);
    customizations.fieldMeanings.set(what.name, { meaning: what.meaning, at });
  }
}

/** The published name of the field. A removed field releases its name if another is renamed to it. */
export function publishedNameOf({ renames, removed }: CollectionCustomizations, name: string): string {
  const renamed = renames.get(name)?.to;
  if (renamed !== undefined) return renamed;
  // Databases do not allow NUL in a name, so this name is unique.
  const taken = removed.has(name) && [...renames].some(([from, { to }]) => to === name && from !== name);
  return taken ? `${name}\0removed` : name;
}

export function minGroupSizeOf(customizations: CollectionCustomizations): MinGroupSize | undefined {
  const { minGroupSize } = customizations;
  if (!minGroupSize) return undefined;
  const { size, at, options } = minGroupSize;
  const names = options.fields?.map((name) => publishedNameOf(customizations, name));
  return Object.freeze({ size, at, fields: names && new Set(names), by: options.by ?? [] });
}

/** CONFIGURATION for a call with a missing field, or a field of the wrong kind. */
export function checkCustomizations(
  collection: string,
  customizations: CollectionCustomizations,
  internalFields: ReadonlyMap<string, Field>,
): void {
  const requireField = (name: string, at: string): Field =>
    internalFields.get(name) ??
    failUnknownName(`The collection '${collection}' has no field '${name}'`, name, internalFields.keys(), at);
  const requireColumn = (name: string, at: string): Column => {
    const field = requireField(name, at);
    if (field.kind !== 'column')
      return failMisuse(`The field '${name}' of '${collection}' is a relation, not a field`, at);
    if (field.route)
      return failMisuse(`The field '${name}' of '${collection}' is imported: customize its source field`, at);
    return field;
  };
  for (const [name, { at }] of customizations.renames) requireField(name, at);
  for (const [name, at] of customizations.removed) {
    const field = requireField(name, at);
    if (field.kind === 'column' && field.isKey)
      failMisuse(`The field '${name}' is part of the key of '${collection}' and cannot be removed`, at);
  }
  for (const [name, { meaning, at }] of customizations.fieldMeanings)
    checkMeaning(collection, requireField(name, at), name, meaning, at);
  for (const [name, { replacements: answers, emulatedAt: rest }] of customizations.operators)
    for (const at of [...[...answers.values()].map((answer) => answer.at), ...(rest ? [rest] : [])])
      requireColumn(name, at);
  for (const [name, { at, by }] of customizations.sorts) {
    requireColumn(name, at);
    if (typeof by === 'object' && by.some((clause) => clause?.field === name))
      failMisuse(`The sorting of '${name}' of '${collection}' is circular`, at);
  }
  for (const [name, at] of [...customizations.nullable, ...customizations.filledByDatabase]) requireColumn(name, at);
  const { displayField } = customizations;
  if (displayField) {
    const field = requireField(displayField.name, displayField.at);
    if (field.kind !== 'column')
      failMisuse(
        `'${displayField.name}' of '${collection}' is a relation and cannot be the display field`,
        displayField.at,
      );
  }
  for (const [name, { at }] of customizations.binaryModes) {
    const { type } = requireColumn(name, at);
    const primitive = typeof type === 'string' ? type : type[0];
    if (primitive !== 'Binary')
      failMisuse(`'${name}' of '${collection}' is ${primitive}: only a Binary field has a mode`, at);
  }
  for (const [name, at] of customizations.nestedWrites) {
    const field = requireField(name, at);
    if (field.kind === 'column') failMisuse(`'${name}' of '${collection}' is not a relation`, at);
    else if (field.kind !== 'one' || field.recordsColumn || field.only || field.lowestBy || field.reach !== 'join')
      failMisuse(
        `'${name}' of '${collection}' does not allow nested writes: it must lead to one record of the same database, by a unique key`,
        at,
      );
  }
  for (const [name, at] of customizations.trustedKeys) {
    const field = requireField(name, at);
    const isKey = field.kind === 'one' && !field.inverse && !field.only && !field.lowestBy && field.reach === 'join';
    if (!isKey || field.on.some(({ from }) => from.nullable))
      failMisuse(
        `'${name}' of '${collection}' cannot be trusted: it must be a to-one relation by a foreign key of the same database that is never null`,
        at,
      );
  }
  const { minGroupSize } = customizations;
  for (const name of minGroupSize?.options.fields ?? []) requireColumn(name, minGroupSize!.at);
  for (const [name, { at }] of customizations.writings) requireColumn(name, at);
  for (const [name, validations] of customizations.validations)
    for (const { at } of validations)
      if (requireColumn(name, at).readOnly)
        failMisuse(`The field '${name}' of '${collection}' is read-only and cannot have a validation`, at);
}

function checkMeaning(collection: string, field: Field, name: string, meaning: FieldMeaning, at: string): void {
  const what = `'${name}' of '${collection}'`;
  if (field.kind !== 'column') {
    const other = Object.keys(meaning).find((each) => each !== 'description' && each !== 'synonyms');
    if (other) failMisuse(`${what} is a relation: it takes description and synonyms, not ${other}`, at);
    return;
  }
  if (meaning.hiddenByDefault && field.isKey)
    failMisuse(`${what} is part of the key and cannot be hidden by default`, at);
  const { enumValues } = field;
  const unknown = enumValues && Object.keys(meaning.values ?? {}).find((value) => !enumValues.includes(value));
  if (unknown !== undefined) failUnknownName(`${what} has no value '${unknown}'`, unknown, enumValues!, at);
}

export function failUnknownName(problem: string, name: string, known: Iterable<string>, at: string): never {
  const near = suggestNames(name, known);
  return fail('CONFIGURATION', { problem: `${problem}.${near.length ? ` Near: ${near.join(', ')}.` : ''} (${at})` });
}

export function failMisuse(problem: string, at: string): never {
  return fail('CONFIGURATION', { problem: `${problem}. (${at})` });
}

export function checkName(name: string, at: string): void {
  if (typeof name !== 'string' || name.trim() !== name || name === '' || /:|@@@|\p{Cc}/u.test(name))
    failMisuse(
      `'${String(name)}' cannot be a name: it must be a string without ':', '@@@', and spaces at its ends`,
      at,
    );
}
