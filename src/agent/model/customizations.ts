// Groups the recorded calls by collection and field, for the passes of the build. `checkWishes` checks the names at the
// end, when all fields exist.
import { fail } from '../../core/errors.ts';
import type { Operator } from '../../core/filter.ts';
import { nearNames } from '../../core/suggestions.ts';
import type { BinaryMode, Customization, Recorded } from '../customize/definitions.ts';
import type { Hook, HookPosition, HookType, Override, OverrideVerb } from '../customize/hooks.ts';
import type { ColumnWishes } from './fields.ts';
import type { Column, Field, FieldWriting, Replacement, Rules, Segment } from './types.ts';

type Of<K extends Customization['kind']> = Customization & { readonly kind: K };
export type Added = (Of<'addField'> | Of<'importField'> | Of<'external'>) & { readonly at: string };
export type Flattened = Of<'flatten'> & { readonly at: string };
export type DeclaredRelation = (Of<'toOne'> | Of<'fromOther'> | Of<'throughOther'>) & { readonly at: string };

interface OperatorWishes {
  readonly answers: Map<Operator, { readonly by: 'here' | Replacement; readonly at: string }>;
  rest?: string;
}

export interface Wishes {
  /** From the original name to the published one. */
  readonly renames: Map<string, { readonly to: string; readonly at: string }>;
  readonly removed: Map<string, string>;
  readonly added: Map<string, Added>;
  readonly relations: DeclaredRelation[];
  readonly operators: Map<string, OperatorWishes>;
  readonly sorts: Map<string, { readonly by: NonNullable<ColumnWishes['order']>; readonly at: string }>;
  readonly nullable: Map<string, string>;
  readonly filled: Map<string, string>;
  readonly flattened: Flattened[];
  readonly binaryModes: Map<string, { readonly mode: BinaryMode; readonly at: string }>;
  readonly segments: Map<string, Segment>;
  search: Rules['search'];
  countable: boolean;
  readonly hooks: { readonly [P in HookPosition]: { readonly [T in HookType]: Hook<never>[] } };
  readonly validations: Map<string, Validation[]>;
  readonly writings: Map<string, FieldWriting>;
  readonly overrides: { [V in OverrideVerb]?: Override<V> };
  /** Relations with nested writes for assistants, and the call sites. */
  readonly nestedWrites: Map<string, string>;
}

export interface Validation {
  readonly operator: Operator;
  readonly value: unknown;
  readonly at: string;
}

export function noWishes(): Wishes {
  return {
    renames: new Map(),
    removed: new Map(),
    added: new Map(),
    relations: [],
    operators: new Map(),
    sorts: new Map(),
    nullable: new Map(),
    filled: new Map(),
    flattened: [],
    binaryModes: new Map(),
    segments: new Map(),
    search: 'columns',
    countable: true,
    hooks: { Before: noHooks(), After: noHooks() },
    validations: new Map(),
    writings: new Map(),
    overrides: {},
    nestedWrites: new Map(),
  };
}

const noHooks = () => ({ List: [], Create: [], Update: [], Delete: [], Aggregate: [] });

/** By collection, in the order of the calls. CONFIGURATION for contradictory calls. */
export function gatherWishes(recorded: readonly Recorded[]): Map<string, Wishes & { readonly at: string }> {
  const all = new Map<string, Wishes & { readonly at: string }>();
  for (const { collection, at, what } of recorded) {
    let wishes = all.get(collection);
    if (!wishes) {
      wishes = { ...noWishes(), at };
      all.set(collection, wishes);
    }
    gather(wishes, collection, what, at);
  }
  return all;
}

function gather(wishes: Wishes, collection: string, what: Customization, at: string): void {
  const once = (known: { readonly at: string } | undefined, said: string) => {
    if (known) misuse(`This ${said} of '${collection}' a second time; the first is at ${known.at}`, at);
  };
  switch (what.kind) {
    // createActions and createCharts process these.
    case 'action':
    case 'chart':
      return;
    case 'renameField': {
      checkName(what.newName, at);
      // The name may be that of an earlier rename.
      const renamed = [...wishes.renames].find(([, { to }]) => to === what.name)?.[0] ?? what.name;
      wishes.renames.set(renamed, { to: what.newName, at });
      return;
    }
    case 'removeField': {
      const renamed = [...wishes.renames].find(([, { to }]) => to === what.name)?.[0] ?? what.name;
      wishes.removed.set(renamed, at);
      return;
    }
    case 'addField':
    case 'importField':
    case 'external':
      checkName(what.name, at);
      once(wishes.added.get(what.name), `adds the field '${what.name}'`);
      wishes.added.set(what.name, { ...what, at });
      return;
    case 'toOne':
    case 'fromOther':
    case 'throughOther':
      checkName(what.name, at);
      once(
        wishes.relations.find(({ name }) => name === what.name),
        `adds the relation '${what.name}'`,
      );
      wishes.relations.push({ ...what, at });
      return;
    case 'replaceOperator':
    case 'emulateOperator': {
      const known: OperatorWishes = wishes.operators.get(what.name) ?? { answers: new Map() };
      wishes.operators.set(what.name, known);
      if (what.kind === 'emulateOperator' && !what.operator) {
        known.rest = at;
        return;
      }
      const operator = what.operator!;
      once(known.answers.get(operator), `answers '${operator}' on '${what.name}'`);
      const by = what.kind === 'replaceOperator' ? Object.freeze({ replace: what.replace, at }) : 'here';
      known.answers.set(operator, { by, at });
      return;
    }
    case 'sort':
      once(wishes.sorts.get(what.name), `says how to sort by '${what.name}'`);
      wishes.sorts.set(what.name, { by: what.by, at });
      return;
    case 'nullable':
      wishes.nullable.set(what.name, at);
      // A nullable field need not be present.
      wishes.validations.set(
        what.name,
        (wishes.validations.get(what.name) ?? []).filter(({ operator }) => operator !== 'Present'),
      );
      return;
    case 'filledByDatabase':
      wishes.filled.set(what.name, at);
      return;
    case 'flatten':
      wishes.flattened.push({ ...what, at });
      return;
    case 'binaryMode':
      once(wishes.binaryModes.get(what.name), `says how to show '${what.name}'`);
      wishes.binaryModes.set(what.name, { mode: what.mode, at });
      return;
    case 'addSegment':
      once(wishes.segments.get(what.name), `adds the segment '${what.name}'`);
      wishes.segments.set(what.name, { definition: what.definition, at });
      return;
    case 'search':
      wishes.search = what.replace ? { replace: what.replace, at } : 'none';
      return;
    case 'disableCount':
      wishes.countable = false;
      return;
    case 'hook':
      wishes.hooks[what.position][what.type].push({ handler: what.handler, at });
      return;
    case 'validation': {
      const { operator, value } = what;
      wishes.validations.set(what.name, [...(wishes.validations.get(what.name) ?? []), { operator, value, at }]);
      return;
    }
    case 'writing':
      once(wishes.writings.get(what.name), `says how '${what.name}' is written`);
      wishes.writings.set(what.name, Object.freeze({ write: what.write, at }));
      return;
    case 'nestedWrites':
      wishes.nestedWrites.set(what.name, at);
      return;
    case 'override':
      once(wishes.overrides[what.verb], `overrides ${what.verb}`);
      Object.assign(wishes.overrides, { [what.verb]: Object.freeze({ handler: what.handler, at }) });
      return;
  }
}

/** The published name of the field. A removed field releases its name if another is renamed to it. */
export function publishedName({ renames, removed }: Wishes, name: string): string {
  const renamed = renames.get(name)?.to;
  if (renamed !== undefined) return renamed;
  // Databases do not allow NUL in a name, so this name is unique.
  const taken = removed.has(name) && [...renames].some(([from, { to }]) => to === name && from !== name);
  return taken ? `${name}\0removed` : name;
}

/** CONFIGURATION for a call with a missing field, or a field of the wrong kind. */
export function checkWishes(collection: string, wishes: Wishes, inside: ReadonlyMap<string, Field>): void {
  const need = (name: string, at: string): Field =>
    inside.get(name) ?? unknownName(`The collection '${collection}' has no field '${name}'`, name, inside.keys(), at);
  const needColumn = (name: string, at: string): Column => {
    const field = need(name, at);
    if (field.kind !== 'column') return misuse(`The field '${name}' of '${collection}' is a relation, not a field`, at);
    if (field.route)
      return misuse(`The field '${name}' of '${collection}' is imported: say it of the field that it comes from`, at);
    return field;
  };
  for (const [name, { at }] of wishes.renames) need(name, at);
  for (const [name, at] of wishes.removed) {
    const field = need(name, at);
    if (field.kind === 'column' && field.isKey)
      misuse(`The field '${name}' is of the key of '${collection}', which cannot be removed`, at);
  }
  for (const [name, { answers, rest }] of wishes.operators)
    for (const at of [...[...answers.values()].map((answer) => answer.at), ...(rest ? [rest] : [])])
      needColumn(name, at);
  for (const [name, { at, by }] of wishes.sorts) {
    needColumn(name, at);
    if (typeof by === 'object' && by.some((clause) => clause?.field === name))
      misuse(`The sorting of '${name}' of '${collection}' goes in a circle`, at);
  }
  for (const [name, at] of [...wishes.nullable, ...wishes.filled]) needColumn(name, at);
  for (const [name, { at }] of wishes.binaryModes) {
    const { type } = needColumn(name, at);
    const primitive = typeof type === 'string' ? type : type[0];
    if (primitive !== 'Binary') misuse(`'${name}' of '${collection}' is ${primitive}: only a Binary has a mode`, at);
  }
  for (const [name, at] of wishes.nestedWrites) {
    const field = need(name, at);
    if (field.kind === 'column') misuse(`'${name}' of '${collection}' is no relation`, at);
    else if (field.kind !== 'one' || field.given || field.only || field.lowestBy || field.reach !== 'join')
      misuse(
        `Nothing can be written along by '${name}' of '${collection}': it must lead to one record of the same database, by a key that no other record can hold`,
        at,
      );
  }
  for (const [name, { at }] of wishes.writings) needColumn(name, at);
  for (const [name, validations] of wishes.validations)
    for (const { at } of validations)
      if (needColumn(name, at).readOnly)
        misuse(`The field '${name}' of '${collection}' is read-only, so that there is nothing to check`, at);
}

export function unknownName(problem: string, name: string, known: Iterable<string>, at: string): never {
  const near = nearNames(name, known);
  return fail('CONFIGURATION', { problem: `${problem}.${near.length ? ` Near: ${near.join(', ')}.` : ''} (${at})` });
}

export function misuse(problem: string, at: string): never {
  return fail('CONFIGURATION', { problem: `${problem}. (${at})` });
}

export function checkName(name: string, at: string): void {
  if (typeof name !== 'string' || name.trim() !== name || name === '' || /:|@@@|\p{Cc}/u.test(name))
    misuse(`'${String(name)}' cannot be a name: it must be a text without ':', '@@@', and space at its ends`, at);
}
