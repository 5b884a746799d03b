// The restrictions of each policy, as docs/permissions.md, docs/approvals.md and docs/oauth.md describe them, and how
// an operation must end under it. The oracle does not use the engine: each row has its settings, and the needs that
// they leave unmet.
import type { PlainFilter } from '../../src/core/filter.ts';
import type { CollectionPermission } from '../../src/store/permissions/types.ts';
import type { RemoteTools } from '../../src/store/remotes/types.ts';
import { type End, type Need, type OperationName, operationOf } from './operations.ts';

const all: CollectionPermission = { browse: true, read: true, edit: true, add: true, delete: true, export: true };
const none: CollectionPermission = {
  ...all,
  browse: false,
  read: false,
  edit: false,
  add: false,
  delete: false,
  export: false,
};
const reads: CollectionPermission = { ...none, browse: true, read: true };

export type Credential =
  | 'disabled'
  | 'expired'
  | 'revoked'
  | 'limited'
  | { readonly scopes: readonly string[] }
  /** The choices on the consent page, and the remaining scopes if there are fewer. */
  | { readonly consent: Readonly<Record<string, string | readonly string[]>>; readonly scopes?: readonly string[] }
  | { readonly query: string };

export interface Policy {
  readonly name: string;
  /** The difference from a role with all rights. */
  readonly role?: Readonly<Record<string, CollectionPermission>>;
  readonly scope?: { readonly collection: string; readonly filter: PlainFilter };
  /** The permitted tools of the remote server; all when absent. */
  readonly remote?: RemoteTools;
  /** A restricted or invalid credential for the call. */
  readonly credential?: Credential;
  /** Needs that are not met. */
  readonly closes?: RegExp;
  /** Rights that are denied to all users, even with approval. */
  readonly denies?: RegExp;
  /** Rights that need approval by a person. */
  readonly asks?: RegExp;
  /** Values that must not appear in any answer. */
  readonly hides?: readonly string[];
}

const asks = { add: 'ask-person', edit: 'ask-person', delete: 'ask-person' } as const;
const denied = { add: 'deny', edit: 'deny', delete: 'deny' } as const;
const second = { policy: 'ask-person', secondPerson: true } as const;
const collections = 'customers|orders|order_lines|tags|order_tag|remarks';
const only = (kept: string): RegExp => new RegExp(`^\\w+ (?!(${kept})\\b)(${collections})\\b`);
const notOne = { field: 'id', operator: 'NotEqual', value: 1 } as const;
const writes = /^(edit|add|delete|trigger|start|cascade) /;

export const everything: Policy = { name: 'everything' };

/** Policies of a role. */
export const rolePolicies: readonly Policy[] = [
  everything,
  { name: 'reads only', role: { '*': reads }, closes: /^(edit|add|delete|trigger|export) / },
  { name: 'no orders', role: { orders: none }, closes: /^\w+ orders\b/, hides: ['boots', '7317'] },
  { name: 'no lines', role: { order_lines: none }, closes: /^\w+ order_lines\b/, hides: ['8842'] },
  { name: 'no customers', role: { customers: none }, closes: /^\w+ customers\b/, hides: ['Ada'] },
  { name: 'no pairs', role: { order_tag: { ...all, add: false, delete: false } }, closes: /^(add|delete) order_tag/ },
  { name: 'no deletes of lines', role: { order_lines: { ...all, delete: false } }, closes: /^delete order_lines/ },
  {
    name: 'no edits of customers',
    role: { customers: { ...all, edit: false, add: false } },
    closes: /^(edit|add) customers/,
  },
  // Linking needs the right on the record that it writes, not on the record that has the relation.
  { name: 'no edits of orders', role: { orders: { ...all, edit: false } }, closes: /^(edit|trigger) orders/ },
  { name: 'no exports', role: { '*': { ...all, export: false } }, closes: /^export / },
  {
    name: 'no actions',
    role: { orders: { ...all, actions: never('Refund', 'Sweep', 'Close', 'Attach') } },
    closes: /^trigger /,
  },
  {
    name: 'a hidden field',
    role: { orders: { ...all, fields: { margin: 'hidden' } } },
    closes: /^(write|see) orders\.margin/,
    hides: ['7317'],
  },
  {
    name: 'a field to read',
    role: { orders: { ...all, fields: { margin: 'read' } } },
    closes: /^write orders\.margin/,
  },
  {
    name: 'a hidden field at the other end',
    role: { customers: { ...all, fields: { name: 'hidden' } } },
    closes: /^(write|see) customers\.name/,
    hides: ['Ada'],
  },
  {
    name: 'a field to read at the other end',
    role: { customers: { ...all, fields: { name: 'read' } } },
    closes: /^write customers\.name/,
  },
  {
    name: 'a row scope',
    scope: { collection: 'orders', filter: notOne },
    closes: /^record orders 1/,
    hides: ['boots', '7317'],
  },
  {
    name: 'a row scope of customers',
    scope: { collection: 'customers', filter: notOne },
    closes: /^record customers 1/,
    hides: ['Ada'],
  },
  {
    name: 'a row scope of lines',
    scope: { collection: 'order_lines', filter: notOne },
    closes: /^record order_lines 1/,
    hides: ['8842'],
  },
  { name: 'no cascades', role: { order_lines: { ...all, cascades: 'deny' } }, closes: /^cascade order_lines/ },
  {
    name: 'a condition of actions',
    role: { orders: { ...all, actions: conditioned('Refund', 'Sweep', 'Close', 'Attach') } },
    closes: /^condition /,
  },
  {
    name: 'denied',
    role: { orders: { ...all, approval: denied } },
    denies: /^(add|edit|delete|trigger) orders/,
  },
  {
    name: 'denied lines',
    role: { order_lines: { ...all, approval: denied } },
    denies: /^(add|edit|delete) order_lines/,
  },
  { name: 'denied pairs', role: { order_tag: { ...all, approval: denied } }, denies: /^(add|edit|delete) order_tag/ },
  { name: 'denied tags', role: { tags: { ...all, approval: denied } }, denies: /^(add|edit|delete) tags/ },
];

export const asksPerson: Policy = {
  name: 'asks a person',
  role: { orders: { ...all, approval: asks } },
  asks: /^(add|edit|delete|trigger) orders/,
};

/** Policies that require approval. */
export const askingPolicies: readonly Policy[] = [
  asksPerson,
  {
    name: 'asks a second person',
    role: { orders: { ...all, approval: { add: second, edit: second, delete: second } } },
    asks: /^(add|edit|delete|trigger) orders/,
  },
  { name: 'asks for lines', role: { order_lines: { ...all, approval: asks } }, asks: /^(add|edit|delete) order_lines/ },
  // Only junction rows are written, not the records at either end.
  { name: 'asks for pairs', role: { order_tag: { ...all, approval: asks } }, asks: /^(add|edit|delete) order_tag/ },
  { name: 'asks for tags', role: { tags: { ...all, approval: asks } }, asks: /^(add|edit|delete) tags/ },
  { name: 'asks for customers', role: { customers: { ...all, approval: asks } }, asks: /^(add|edit|delete) customers/ },
];

/** `ask` lets a user in a front end write. A program has nobody to ask. */
export const asksUser: Policy = {
  name: 'asks the user',
  role: { orders: { ...all, approval: { add: 'ask', edit: 'ask', delete: 'ask' } } },
  asks: /^(add|edit|delete|trigger) orders/,
};

/** Tool permissions that an administrator sets for a remote server. */
export const remotePolicies: readonly Policy[] = [
  { name: 'no remote tools', remote: {}, closes: /^call / },
  { name: 'asks for a remote tool', remote: { charge: 'ask' }, asks: /^call / },
];

/** Restrictions of an assistant's token. */
export const tokenPolicies: readonly Policy[] = [
  { name: 'a token to read', credential: { scopes: ['mcp:read'] } },
  { name: 'a token without actions', credential: { scopes: ['mcp:read', 'mcp:write'] } },
  {
    name: 'a consent for orders',
    credential: { consent: { which: 'some', collection: ['orders'] } },
    closes: only('orders'),
    hides: ['Ada', '8842'],
  },
  {
    name: 'a consent for customers and lines',
    credential: { consent: { which: 'some', collection: ['customers', 'order_lines'] } },
    closes: only('customers|order_lines'),
    hides: ['boots'],
  },
  { name: 'a consent to read', credential: { consent: { limit: 'read-only' }, scopes: ['mcp:read'] }, closes: writes },
  {
    name: 'an address for orders',
    credential: { query: '?collections=orders' },
    closes: only('orders'),
    hides: ['Ada', '8842'],
  },
  { name: 'an address to read', credential: { query: '?readonly=true' }, closes: writes },
  { name: 'an expired token', credential: 'expired' },
  { name: 'a revoked token', credential: 'revoked' },
];

export const disabled: Policy = { name: 'a disabled user', credential: 'disabled', hides: ['boots', 'Ada'] };
export const limited: Policy = { name: 'too many calls', credential: 'limited' };

function never(...names: readonly string[]): NonNullable<CollectionPermission['actions']> {
  return Object.fromEntries(names.map((name) => [name, { trigger: false }]));
}

function conditioned(...names: readonly string[]): NonNullable<CollectionPermission['actions']> {
  const when = { field: 'margin', operator: 'GreaterThan', value: 10_000 } as const;
  return Object.fromEntries(names.map((name) => [name, { trigger: { when } }]));
}

/** The same role, but writes to orders still require approval. */
export function stillAsking(role: Policy['role'] = {}): NonNullable<Policy['role']> {
  const orders = role.orders ?? role['*'] ?? all;
  return { ...role, orders: { ...orders, approval: { ...asks, ...orders.approval } } };
}

/** How the operation must end under the policy. */
export function expectedEnd(name: OperationName, { credential, closes, denies, asks }: Policy): End {
  const { needs, scope, ...operation } = operationOf(name);
  if (credential === 'disabled' || credential === 'expired' || credential === 'revoked') return 'signed out';
  if (credential === 'limited') return 'limited';
  if (typeof credential === 'object' && 'scopes' in credential && !credential.scopes?.includes(scope))
    return 'no consent';
  const met = [...needs, ...(operation.asks ?? []).map((need): Need => ({ need, otherwise: 'forbidden' }))];
  const unmet = needs.find(({ need }) => closes?.test(need)) ?? met.find(({ need }) => denies?.test(need));
  if (unmet) return unmet.otherwise;
  const asked = met.map(({ need }) => need);
  return operation.does && asks && asked.some((need) => asks.test(need)) ? 'waits' : 'done';
}

/** The changes that must happen in the database. */
export const expectedChanges = (name: OperationName, end: End): readonly string[] =>
  end === 'done' ? [...(operationOf(name).does ?? [])].sort() : [];
