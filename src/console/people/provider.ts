// What of a user somebody else says: an OpenID provider at every sign-in. What it would overwrite is shown as its word, and is
// not changed here, where the change would be gone with the next sign-in.
import type { User } from '../../store/identity-types.ts';
import type { Parts } from '../visit.ts';

export type Said = 'names' | 'team' | 'role' | 'level';

export interface Provider {
  /** As people know it. */
  readonly name: string;
  readonly says: ReadonlySet<Said>;
  /** Keys of tags. */
  readonly tags: readonly string[];
  /** It may say more than is known here, since code decides with every sign-in. */
  readonly maybe: boolean;
}

const nobody: Provider = { name: '', says: new Set(), tags: [], maybe: false };

/** {@link nobody} for a user who has never come through one. */
export async function providerOf({ id }: User, { ways, store }: Parts): Promise<Provider> {
  const { sso, host } = ways;
  if (sso && (await store.identities.has(id, sso.issuer))) {
    const { tags, ...rest } = sso.mapping;
    return {
      name: sso.name,
      says: new Set<Said>(['names', ...(Object.keys(rest) as Said[])]),
      tags: Object.keys(tags),
      maybe: false,
    };
  }
  if (host && (await store.identities.has(id, host.issuer))) {
    return { ...nobody, name: 'the application that this console is part of', maybe: true };
  }
  return nobody;
}
