// User data that an OpenID provider sets at every sign-in. The page labels these values and does not edit them, because
// the next sign-in would overwrite the change.
import type { User } from '../../../store/users/types.ts';
import type { Parts } from '../../page-request.ts';

export type Said = 'names' | 'team' | 'role' | 'level';

export interface Provider {
  /** Display name of the provider. */
  readonly name: string;
  readonly says: ReadonlySet<Said>;
  /** Keys of the tags that the provider sets. */
  readonly tags: readonly string[];
  /** The provider may set more than this, because code decides at every sign-in. */
  readonly maybe: boolean;
}

const nobody: Provider = { name: '', says: new Set(), tags: [], maybe: false };

/** {@link nobody} for a user who has never signed in through a provider. */
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
