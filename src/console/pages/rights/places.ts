// URLs of the pages about permissions, and the environment that they edit: the served one, or another one of the
// storage named in the query (`?in=`).
import { fail } from '../../../core/errors.ts';
import type { Right } from '../../../store/permissions/types.ts';
import type { PageRequest, Parts, SignedInRequest } from '../../page-request.ts';
import { segment } from '../../paths.ts';

export const rolePage = (role: string): string => `/roles/${segment(role)}`;
export const permissionPage = (role: string, collection: string): string => `${rolePage(role)}/${segment(collection)}`;
export const teamPage = (team: string): string => `/teams/${segment(team)}`;
export const scopePage = (team: string, collection: string): string => `${teamPage(team)}/${segment(collection)}`;
export const collectionPage = (collection: string): string => `/collections/${segment(collection)}`;
export const personPage = (id: number): string => `/people/${id}`;

export const namesOf = (rights: readonly Right[], kind: 'environment' | 'team' | 'role'): readonly string[] =>
  rights.filter((right) => right.kind === kind).map(({ path }) => path[0]!);

/** The value of a stored right. Undefined if it is not stored. */
export const rightOf = (rights: readonly Right[], kind: Right['kind'], ...path: readonly string[]): unknown =>
  rights.find(
    (right) =>
      right.kind === kind && right.path.length === path.length && path.every((name, at) => right.path[at] === name),
  )?.value;

export interface Environments {
  /** Environment of the page. */
  readonly environment: string;
  readonly served: string;
  readonly all: readonly string[];
  /** Query suffix that selects the environment; '' for the served one. */
  readonly suffix: string;
}

/** Throws NOT_FOUND for an environment that the storage does not have. */
function readEnvironment(
  { query, form, place }: PageRequest,
  rights: readonly Right[],
  { paths }: Parts,
): Environments {
  const served = place.environment;
  const all = namesOf(rights, 'environment');
  const environment = form.get('in') ?? query.get('in') ?? served;
  if (!all.includes(environment)) return fail('NOT_FOUND', { path: paths.path('/environments') });
  return { environment, served, all, suffix: environment === served ? '' : `?in=${encodeURIComponent(environment)}` };
}

/** The role or team named in the URL, with the rights that were read for it. */
interface NamedTarget extends Environments {
  readonly rights: readonly Right[];
  readonly name: string;
}

/** Throws NOT_FOUND for an unknown role or team, with a link to the list. */
export async function readNamedTarget(
  kind: 'role' | 'team',
  request: SignedInRequest,
  parts: Parts,
): Promise<NamedTarget> {
  const rights = await parts.store.rights.read();
  const environments = readEnvironment(request, rights, parts);
  const name = request.params.name!;
  if (!namesOf(rights, kind).includes(name)) fail('NOT_FOUND', { path: parts.paths.path(`/${kind}s`) });
  return { ...environments, rights, name };
}
