// Where the pages about rights lie, and which environment they are about: the one that is served, or another of the storage
// that the address names (`?in=`).
import { fail } from '../../core/errors.ts';
import type { Right } from '../../store/rights-types.ts';
import type { MemberVisit, Parts, Visit } from '../visit.ts';

/** One segment of a page; `*` and the like too, so that the way back from a sign-in finds the page. */
export const segment = (name: string): string =>
  encodeURIComponent(name).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

export const rolePage = (role: string): string => `/roles/${segment(role)}`;
export const permissionPage = (role: string, collection: string): string => `${rolePage(role)}/${segment(collection)}`;
export const teamPage = (team: string): string => `/teams/${segment(team)}`;
export const scopePage = (team: string, collection: string): string => `${teamPage(team)}/${segment(collection)}`;
export const collectionPage = (collection: string): string => `/collections/${segment(collection)}`;
export const personPage = (id: number): string => `/people/${id}`;

export const namesOf = (rights: readonly Right[], kind: 'environment' | 'team' | 'role'): readonly string[] =>
  rights.filter((right) => right.kind === kind).map(({ path }) => path[0]!);

/** The value of one fact; undefined where it is not there. */
export const factOf = (rights: readonly Right[], kind: Right['kind'], ...path: readonly string[]): unknown =>
  rights.find(
    (right) =>
      right.kind === kind && right.path.length === path.length && path.every((name, at) => right.path[at] === name),
  )?.value;

export interface Environments {
  /** That the page is about. */
  readonly environment: string;
  readonly served: string;
  readonly all: readonly string[];
  /** What keeps it in an address; '' for the one that is served. */
  readonly suffix: string;
}

/** NOT_FOUND for one that the storage does not have. */
export function readEnvironment(
  { query, form, place }: Visit,
  rights: readonly Right[],
  { paths }: Parts,
): Environments {
  const served = place.environment;
  const all = namesOf(rights, 'environment');
  const environment = form.get('in') ?? query.get('in') ?? served;
  if (!all.includes(environment)) return fail('NOT_FOUND', { path: paths.path('/environments') });
  return { environment, served, all, suffix: environment === served ? '' : `?in=${encodeURIComponent(environment)}` };
}

/** What a page is about that names a role or a team in its address: the name, and the rights that were read for it. */
export interface AskedOf extends Environments {
  readonly rights: readonly Right[];
  readonly name: string;
}

/** NOT_FOUND, with the list of them, where there is no such one. */
export async function askNamed(kind: 'role' | 'team', visit: MemberVisit, parts: Parts): Promise<AskedOf> {
  const rights = await parts.store.rights.read();
  const environments = readEnvironment(visit, rights, parts);
  const name = visit.params.name!;
  if (!namesOf(rights, kind).includes(name)) fail('NOT_FOUND', { path: parts.paths.path(`/${kind}s`) });
  return { ...environments, rights, name };
}
