// What a push would change, in words that whoever reviews it can read without knowing how it is kept.
import { type Policy, readPolicy, type Verb, verbs } from '../../core/caller.ts';
import { isBranch, type PlainFilter } from '../../core/filter.ts';
import type { ActionTrigger, CollectionPermission, RightChange } from '../../store/store.ts';

export interface Sign {
  readonly sign: '+' | '-' | '~';
  readonly text: string;
}

/** In the order in which they are told; what goes or comes with a team, role or environment is told by that alone. */
export function describeChanges(changes: readonly RightChange[]): readonly Sign[] {
  const gone = new Set(
    changes.filter(({ after }) => after === undefined).map(({ kind, path }) => `${kind} ${path[0]}`),
  );
  return changes.flatMap((change) => {
    const { kind, path } = change;
    const owner = kind === 'scope' ? 'team' : 'role';
    const goesAlong = gone.has(`${owner} ${path[0]}`) || gone.has(`environment ${path[1]}`);
    if ((kind === 'scope' || kind === 'permission') && change.after === undefined && goesAlong) return [];
    const sign = change.before === undefined ? '+' : change.after === undefined ? '-' : '~';
    return describe(change).map((text) => ({ sign, text }));
  });
}

function describe({ kind, path, before, after }: RightChange): readonly string[] {
  switch (kind) {
    case 'organization':
    case 'project':
      return [`the ${kind} is called '${after}' (was: '${before}')`];
    case 'environment':
      if (before !== undefined && after !== undefined) return [`environment '${before}' is called '${after}'`];
      return [
        after === undefined
          ? `environment '${path[0]}' is removed, with every permission and row scope in it`
          : `environment '${path[0]}'`,
      ];
    case 'team':
    case 'role':
      return [after === undefined ? `${kind} '${path[0]}' is removed` : `${kind} '${path[0]}'`];
    case 'network':
      return [after === undefined ? `no longer reached from ${path[0]}` : `may be reached from ${path[0]}`];
    case 'scope':
      return [
        `team '${path[0]}' in ${path[1]}, ${collectionName(path[2]!)}: sees ${describeScope(after)} (was: ${describeScope(before)})`,
      ];
    case 'permission':
      return describePermission(
        before as CollectionPermission | undefined,
        after as CollectionPermission | undefined,
      ).map((text) => `role '${path[0]}' in ${path[1]}, ${collectionName(path[2]!)}: ${text}`);
  }
}

const collectionName = (name: string): string => (name === '*' ? 'every other collection' : name);
const describeScope = (filter: unknown): string =>
  filter === undefined ? 'every record, or those of *' : `only records where ${describeFilter(filter as PlainFilter)}`;

export function describeFilter(filter: PlainFilter): string {
  if (typeof filter !== 'object' || filter === null) return JSON.stringify(filter);
  if (!isBranch(filter)) {
    const value = filter.value === undefined ? '' : ` ${JSON.stringify(filter.value)}`;
    return `${filter.field} ${filter.operator}${value}`;
  }
  const { aggregator, conditions } = filter;
  if (conditions.length === 0) return aggregator === 'And' ? 'anything is so' : 'nothing is so';
  const parts = conditions.map((each) =>
    isBranch(each) && conditions.length > 1 ? `(${describeFilter(each)})` : describeFilter(each),
  );
  return parts.join(aggregator === 'And' ? ' and ' : ' or ');
}

const nothing = Object.fromEntries(verbs.map((verb) => [verb, false])) as unknown as CollectionPermission;

function describePermission(
  before: CollectionPermission | undefined,
  after: CollectionPermission | undefined,
): readonly string[] {
  if (after === undefined) return ['has no permissions of its own any more; what * says holds, else nothing'];
  const now = after;
  const was = before ?? nothing;
  const list = (some: readonly Verb[]) => some.join(', ');
  const gained = verbs.filter((verb) => now[verb] && !was[verb]);
  const lost = verbs.filter((verb) => !now[verb] && was[verb]);
  const told = [
    ...(before === undefined && gained.length === 0 ? ['may do nothing'] : []),
    ...(gained.length > 0 ? [`may ${list(gained)}`] : []),
    ...(lost.length > 0 ? [`may no longer ${list(lost)}`] : []),
    ...compare(was.fields, now.fields, (name, a, b) => `field ${name} is ${b ?? 'written'} (was: ${a ?? 'written'})`),
    ...compare(
      was.approval,
      now.approval,
      (verb, a, b) => `to ${verb}: ${describePolicy(readPolicy(b))} (was: ${describePolicy(readPolicy(a))})`,
    ),
    ...compare(
      was.actions,
      now.actions,
      (name, a, b) => `action ${name} is triggered ${describeAction(b)} (was: ${describeAction(a)})`,
    ),
  ];
  return told.length > 0 ? told : ['is written in other words'];
}

function compare<T>(
  before: Readonly<Record<string, T>> = {},
  after: Readonly<Record<string, T>> = {},
  tell: (name: string, before: T | undefined, after: T | undefined) => string,
): string[] {
  const ownOf = (from: Readonly<Record<string, T>>, name: string) =>
    Object.hasOwn(from, name) ? from[name] : undefined;
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].sort().flatMap((name) => {
    const [a, b] = [ownOf(before, name), ownOf(after, name)];
    return JSON.stringify(a) === JSON.stringify(b) ? [] : [tell(name, a, b)];
  });
}

function describePolicy({ policy, secondPerson }: Policy): string {
  if (secondPerson) return 'another person must say yes';
  return {
    allow: 'nobody is asked',
    ask: 'the assistant asks',
    'ask-person': 'a person must say yes in the console',
    deny: 'denied',
  }[policy];
}

function describeAction(action: NonNullable<CollectionPermission['actions']>[string] | undefined): string {
  if (!action) return 'by those who may edit';
  const trigger = describeTrigger(action.trigger);
  return action.approval === undefined ? trigger : `${trigger}, ${describePolicy(readPolicy(action.approval))}`;
}

function describeTrigger(trigger: ActionTrigger): string {
  if (typeof trigger === 'object') return `where ${describeFilter(trigger.when)}`;
  return trigger ? 'always' : 'never';
}
