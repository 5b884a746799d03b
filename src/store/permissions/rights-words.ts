// Describes a change of rights in words for reviewers who do not know the stored form.
import { type Policy, policyNames, readPolicy, type Verb, verbs, type WriteVerb } from '../../core/caller.ts';
import {
  isBranch,
  isComparison,
  isQuantified,
  type PlainFilter,
  readComparison,
  readQuantified,
} from '../../core/filter.ts';
import { diffRights } from './rights.ts';
import type { ActionTrigger, CollectionPermission, Right, RightChange } from './types.ts';

export interface SignedDescription {
  readonly sign: '+' | '-' | '~';
  readonly text: string;
  /** The change may grant new access. True when the description cannot rule it out. */
  readonly opens: boolean;
}

/** The description of one change. */
type Description = Omit<SignedDescription, 'sign'>;

/** The `*` value before and after. It applies to collections without their own entry. */
interface Rest<T> {
  readonly before: T | undefined;
  readonly after: T | undefined;
}
type RestOf = (change: RightChange) => Rest<unknown>;
const noRest: RestOf = () => ({ before: undefined, after: undefined });

/**
 * Like {@link describeChanges}, but describes the effective change: an added or removed entry is compared with `*`.
 */
export function describeEffects(before: readonly Right[], after: readonly Right[]): readonly SignedDescription[] {
  const restIn = (rights: readonly Right[], { kind, path: [owner, environment] }: RightChange) =>
    rights.find(
      ({ kind: own, path }) => own === kind && path[0] === owner && path[1] === environment && path[2] === '*',
    )?.value;
  return describeChanges(diffRights(before, after), (change) =>
    change.path[2] === '*' ? noRest(change) : { before: restIn(before, change), after: restIn(after, change) },
  );
}

/** In the order of the changes. Omits changes that follow from the removal of a team, role or environment. */
export function describeChanges(
  changes: readonly RightChange[],
  restOf: RestOf = noRest,
): readonly SignedDescription[] {
  const removedOwners = new Set(
    changes.filter(({ after }) => after === undefined).map(({ kind, path }) => `${kind} ${path[0]}`),
  );
  return changes.flatMap((change) => {
    const { kind, path } = change;
    const owner = kind === 'scope' ? 'team' : 'role';
    const isImplied = removedOwners.has(`${owner} ${path[0]}`) || removedOwners.has(`environment ${path[1]}`);
    if ((kind === 'scope' || kind === 'permission') && change.after === undefined && isImplied) return [];
    const sign = change.before === undefined ? '+' : change.after === undefined ? '-' : '~';
    return describe(change, restOf(change)).map((description) => ({ sign, ...description }));
  });
}

const quietly = (text: string): readonly Description[] => [{ text, opens: false }];

function describe({ kind, path, before, after }: RightChange, rest: Rest<unknown>): readonly Description[] {
  switch (kind) {
    case 'organization':
    case 'project':
      return quietly(`the ${kind} is renamed to '${after}' (was: '${before}')`);
    case 'environment':
      if (before !== undefined && after !== undefined)
        return quietly(`environment '${before}' is renamed to '${after}'`);
      return quietly(
        after === undefined
          ? `environment '${path[0]}' is removed, with every permission and row scope in it`
          : `environment '${path[0]}'`,
      );
    case 'team':
    case 'role':
      return quietly(after === undefined ? `${kind} '${path[0]}' is removed` : `${kind} '${path[0]}'`);
    case 'network':
      return [
        {
          text: after === undefined ? `no longer allowed: ${path[0]}` : `allowed: ${path[0]}`,
          opens: after !== undefined,
        },
      ];
    case 'scope':
      return [
        {
          text: `team '${path[0]}' in ${path[1]}, ${collectionName(path[2]!)}: sees ${describeScope(after)} (was: ${describeScope(before)})`,
          // A different filter may match new records. Only a first filter on previously unrestricted records is sure to
          // show fewer.
          opens: before !== undefined || rest.before !== undefined,
        },
      ];
    case 'permission':
      return describePermission(
        { before: before as CollectionPermission | undefined, after: after as CollectionPermission | undefined },
        rest as Rest<CollectionPermission>,
      ).map(({ text, opens }) => ({
        text: `role '${path[0]}' in ${path[1]}, ${collectionName(path[2]!)}: ${text}`,
        opens,
      }));
  }
}

const collectionName = (name: string): string => (name === '*' ? 'every other collection' : name);
const describeScope = (filter: unknown): string =>
  filter === undefined ? 'every record, or those of *' : `only records where ${describeFilter(filter as PlainFilter)}`;

export function describeFilter(filter: PlainFilter): string {
  if (typeof filter !== 'object' || filter === null) return JSON.stringify(filter);
  if (isQuantified(filter)) {
    const { quantifier, path, where } = readQuantified(filter);
    return `${quantifier} of '${path}'${where ? ` has (${describeFilter(where)})` : ''}`;
  }
  if (isComparison(filter)) {
    const { left, right } = readComparison(filter);
    const say = (side: unknown) => (typeof side === 'string' ? side : JSON.stringify(side));
    return `${say(left)} ${filter.operator} ${say(right)}`;
  }
  if (!isBranch(filter)) {
    const value = filter.value === undefined ? '' : ` ${JSON.stringify(filter.value)}`;
    return `${filter.field} ${filter.operator}${value}`;
  }
  const { aggregator, conditions } = filter;
  if (conditions.length === 0) return aggregator === 'And' ? 'always true' : 'never true';
  const parts = conditions.map((each) =>
    isBranch(each) && conditions.length > 1 ? `(${describeFilter(each)})` : describeFilter(each),
  );
  if (aggregator === 'Not') return `not (${parts.join(' and ')})`;
  return parts.join(aggregator === 'And' ? ' and ' : ' or ');
}

const nothing = Object.fromEntries(verbs.map((verb) => [verb, false])) as unknown as CollectionPermission;

function describePermission(
  { before, after }: Rest<CollectionPermission>,
  rest: Rest<CollectionPermission>,
): readonly Description[] {
  const removedText = 'no longer has its own permissions; those of * apply, if any';
  if (after === undefined && rest.before === undefined && rest.after === undefined) return quietly(removedText);
  const was = before ?? rest.before ?? nothing;
  const now = after ?? rest.after ?? nothing;
  const list = (some: readonly Verb[]) => some.join(', ');
  const gainedVerbs = verbs.filter((verb) => now[verb] && !was[verb]);
  const lostVerbs = verbs.filter((verb) => !now[verb] && was[verb]);
  const descriptions = [
    ...(after === undefined ? quietly(removedText) : []),
    ...(before === undefined && verbs.every((verb) => !now[verb]) ? quietly('has no permissions') : []),
    ...(gainedVerbs.length > 0 ? [{ text: `may ${list(gainedVerbs)}`, opens: true }] : []),
    ...(lostVerbs.length > 0 ? quietly(`may no longer ${list(lostVerbs)}`) : []),
    ...compare<string>(was.fields, now.fields, (name, a = 'written', b = 'written') => ({
      text: `field ${name} is ${b} (was: ${a})`,
      opens: fieldRanks.indexOf(b) > fieldRanks.indexOf(a),
    })),
    ...compare(was.approval, now.approval, (verb, a, b) => ({
      text: `to ${verb}: ${describePolicy(readPolicy(b))} (was: ${describePolicy(readPolicy(a))})`,
      opens: now[verb as WriteVerb] && isWeaker(readPolicy(b), readPolicy(a)),
    })),
    ...(was.cascades === now.cascades
      ? []
      : [
          {
            text: `the database may ${now.cascades ? 'no longer ' : ''}extend writes to other records`,
            opens: now.cascades === undefined,
          },
        ]),
    ...compare(was.actions, now.actions, (name, a, b) => ({
      text: `action ${name} can be triggered ${describeAction(b)} (was: ${describeAction(a)})`,
      opens: opensAction(actionRightsOf(was, a), actionRightsOf(now, b)),
    })),
  ];
  return descriptions.length > 0 ? descriptions : quietly('has a different spelling');
}

const fieldRanks: readonly string[] = ['hidden', 'read', 'written'];

function isWeaker(now: Policy, was: Policy): boolean {
  const rank = ({ policy, secondPerson }: Policy) => policyNames.indexOf(policy) + (secondPerson ? 0.5 : 0);
  return rank(now) < rank(was);
}

type Action = NonNullable<CollectionPermission['actions']>[string];

interface ActionRights {
  readonly trigger: ActionTrigger;
  readonly policy: Policy;
}

/** An action without its own entry follows the `edit` permission and its policy. */
function actionRightsOf({ edit, approval }: CollectionPermission, action: Action | undefined): ActionRights {
  if (!action) return { trigger: edit, policy: readPolicy(approval?.edit) };
  return { trigger: action.trigger, policy: readPolicy(action.approval) };
}

function opensAction(was: ActionRights, now: ActionRights): boolean {
  const rank = ({ trigger, policy }: ActionRights) =>
    policy.policy === 'deny' || trigger === false ? 0 : trigger === true ? 2 : 1;
  if (rank(now) === 0) return false;
  if (rank(now) > rank(was) || isWeaker(now.policy, was.policy)) return true;
  return rank(now) === 1 && rank(was) === 1 && JSON.stringify(now.trigger) !== JSON.stringify(was.trigger);
}

function compare<T>(
  before: Readonly<Record<string, T>> = {},
  after: Readonly<Record<string, T>> = {},
  describeEntry: (name: string, before: T | undefined, after: T | undefined) => Description,
): Description[] {
  const ownOf = (from: Readonly<Record<string, T>>, name: string) =>
    Object.hasOwn(from, name) ? from[name] : undefined;
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].sort().flatMap((name) => {
    const [a, b] = [ownOf(before, name), ownOf(after, name)];
    return JSON.stringify(a) === JSON.stringify(b) ? [] : [describeEntry(name, a, b)];
  });
}

export function describePolicy({ policy, secondPerson }: Policy): string {
  if (secondPerson) return 'a second person approves';
  return {
    allow: 'no approval',
    ask: 'the user confirms in the assistant',
    'ask-person': 'a person approves in the console',
    deny: 'denied',
  }[policy];
}

function describeAction(action: Action | undefined): string {
  if (!action) return 'by those who may edit';
  const trigger = describeTrigger(action.trigger);
  return action.approval === undefined ? trigger : `${trigger}, ${describePolicy(readPolicy(action.approval))}`;
}

function describeTrigger(trigger: ActionTrigger): string {
  if (typeof trigger === 'object') return `where ${describeFilter(trigger.when)}`;
  return trigger ? 'always' : 'never';
}
