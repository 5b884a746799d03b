// A proposed change of rights that is not saved yet. The review page carries it in its form: the rights to change, and
// a hash of the rights it was based on. If those rights have changed since, the change is not applied, and the page
// shows both versions (review.ts).
import { findPolicyProblem, verbs } from '../../../core/caller.ts';
import { fail, isAppError } from '../../../core/errors.ts';
import { hashToken } from '../../../core/secret.ts';
import { findFilterProblems } from '../../../store/permissions/filters.ts';
import { canonical } from '../../../store/permissions/rights.ts';
import { findVariableProblems } from '../../../store/permissions/scopes.ts';
import type { CollectionPermission, Right } from '../../../store/permissions/types.ts';
import type { Store } from '../../../store/store.ts';

type Kind = Extract<Right['kind'], 'team' | 'role' | 'scope' | 'permission'>;

/** Without a value the right is removed. */
export interface ProposedRight {
  readonly kind: Kind;
  readonly path: readonly string[];
  readonly value?: unknown;
}

export interface Proposal {
  readonly wanted: readonly ProposedRight[];
  /** The rights that the proposal is based on: those of this kind with this path prefix. */
  readonly about: { readonly kind: Kind; readonly path: readonly string[] };
  /** Hash of those rights. */
  readonly base: string;
}

type About = Proposal['about'];

export function baseOf(rights: readonly Right[], { kind, path }: About): string {
  const concerned = rights.filter((right) => right.kind === kind && path.every((name, at) => right.path[at] === name));
  return hashToken(
    concerned
      .map(({ path, value }) => canonical([path, value]))
      .sort()
      .join('\n'),
  );
}

export function propose(rights: readonly Right[], about: About, wanted: readonly ProposedRight[]): Proposal {
  return { about, wanted, base: baseOf(rights, about) };
}

const keyOf = ({ kind, path }: Pick<Right, 'kind' | 'path'>): string => JSON.stringify([kind, ...path]);

/** Rights after the change. Removing a role or team also removes the rights that belong to it. */
export function applyTo(rights: readonly Right[], { wanted }: Pick<Proposal, 'wanted'>): readonly Right[] {
  const touched = new Set(wanted.map(keyOf));
  const removedOwners = wanted.filter(({ kind, value }) => value === undefined && (kind === 'role' || kind === 'team'));
  const isImplied = ({ kind, path }: Right) =>
    removedOwners.some((one) => kind === (one.kind === 'role' ? 'permission' : 'scope') && path[0] === one.path[0]);
  const set = wanted.flatMap(({ kind, path, value }) => (value === undefined ? [] : [{ kind, path, value }]));
  return [...rights.filter((right) => !touched.has(keyOf(right)) && !isImplied(right)), ...set];
}

type Applied =
  | { readonly state: 'done' }
  | { readonly state: 'conflict'; readonly rights: readonly Right[] }
  | { readonly state: 'refused'; readonly problem: string };

/** Maximum number of attempts when other changes interfere. */
const ATTEMPTS = 5;

export async function applyProposal(store: Store, proposal: Proposal, by: number): Promise<Applied> {
  for (let attempt = 1; ; attempt++) {
    const before = await store.rights.read();
    if (baseOf(before, proposal.about) !== proposal.base) return { state: 'conflict', rights: before };
    try {
      await store.rights.apply(before, applyTo(before, proposal), by);
      return { state: 'done' };
    } catch (error) {
      if (!isAppError(error, 'INVALID_ARGUMENT')) throw error;
      const { argument, problem } = error.details;
      if (argument !== 'rights') return { state: 'refused', problem };
      if (attempt === ATTEMPTS) return { state: 'conflict', rights: before };
    }
  }
}

const depth: Readonly<Record<Kind, number>> = { team: 1, role: 1, scope: 3, permission: 3 };

/**
 * Parses the proposal of a form. The form is ours, but its content is validated like any input: throws
 * INVALID_ARGUMENT.
 */
export function readProposal(text: string): Proposal {
  const { wanted, about, base } = Object(parse(text)) as Partial<Record<keyof Proposal, unknown>>;
  if (!Array.isArray(wanted) || typeof base !== 'string' || !isProposedRight(about, 1))
    return refuse('it is not a change.');
  for (const one of wanted) {
    if (!isProposedRight(one, 0) || one.path.length !== depth[one.kind]) return refuse('it is not a change.');
    const problem = findValueProblem(one);
    if (problem) return refuse(problem);
  }
  return { wanted: wanted as ProposedRight[], about, base };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isProposedRight(value: unknown, least: number): value is ProposedRight {
  const { kind, path } = Object(value) as Partial<ProposedRight>;
  return (
    kind !== undefined &&
    Object.hasOwn(depth, kind) &&
    Array.isArray(path) &&
    path.length >= least &&
    path.every((name) => typeof name === 'string')
  );
}

function findValueProblem({ kind, path, value }: ProposedRight): string | undefined {
  if (value === undefined) return undefined;
  if (kind === 'scope') return findScopeProblem(value);
  if (kind === 'permission') return findPermissionProblem(value);
  return value === path[0] ? findNameProblem(path[0]) : 'the name does not match.';
}

/** First error of a row scope, with its location. Applies the same rules as the roles file. */
export function findScopeProblem(filter: unknown): string | undefined {
  const [first] = findFilterProblems(filter, true);
  if (first) return `${formatPath(first.path)}${first.problem}`;
  const [variable] = findVariableProblems(textsOf(filter).join('\n'));
  return variable;
}

function formatPath(path: readonly (string | number)[]): string {
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return text === '' ? '' : `${text.replace(/^\./, '')}: `;
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

const permissionKeys: readonly string[] = [...verbs, 'fields', 'actions', 'approval', 'cascades'];

/**
 * Checks that the value has the shape of a permission, which the storage does not check (store/permissions/grants.ts).
 */
function findPermissionProblem(value: unknown): string | undefined {
  const permission = Object(value) as Partial<CollectionPermission> & Readonly<Record<string, unknown>>;
  const unknown = Object.keys(permission).find((key) => !permissionKeys.includes(key));
  if (unknown !== undefined) return `a permission has no '${unknown}'.`;
  if (verbs.some((verb) => typeof permission[verb] !== 'boolean')) return 'each verb must be true or false.';
  for (const part of ['fields', 'actions', 'approval'] as const) {
    const section: unknown = permission[part];
    if (section !== undefined && (typeof section !== 'object' || section === null || Array.isArray(section)))
      return `'${part}' must be an object.`;
  }
  if (permission.cascades !== undefined && permission.cascades !== 'deny')
    return "'cascades' must be 'deny' or absent.";
  for (const [name, action] of Object.entries(permission.actions ?? {})) {
    const { trigger } = Object(action) as { readonly trigger?: unknown };
    if (typeof trigger === 'boolean') continue;
    const problem = findScopeProblem(Object(trigger).when);
    if (problem) return `action ${name}: ${problem}`;
  }
  for (const policy of Object.values(permission.approval ?? {})) {
    const problem = findPolicyProblem(policy);
    if (problem) return problem;
  }
  return undefined;
}

/** Validates the name of a role or team. `.` and `..` are not valid URL segments. */
export function findNameProblem(name: string): string | undefined {
  if (name.trim() !== name || name === '' || name.length > 191) return 'Expected a name of 1 to 191 characters.';
  return name === '.' || name === '..' ? 'Expected a name with a letter or digit.' : undefined;
}

function refuse(problem: string): never {
  return fail('INVALID_ARGUMENT', { argument: 'proposal', problem });
}
