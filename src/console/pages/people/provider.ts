// User data that an OpenID provider sets at every sign-in. The page labels these values and does not edit them, because
// the next sign-in would overwrite the change.
import type { User } from '../../../store/users/types.ts';
import type { Parts } from '../../page-request.ts';

export type ProvidedField = 'names' | 'team' | 'role' | 'level';

export interface Provider {
  /** Display name of the provider. */
  readonly name: string;
  readonly providedFields: ReadonlySet<ProvidedField>;
  /** Keys of the tags that the provider sets. */
  readonly tags: readonly string[];
  /** The provider may set more than this, because code decides at every sign-in. */
  readonly maybe: boolean;
}

const noProvider: Provider = { name: '', providedFields: new Set(), tags: [], maybe: false };

/** {@link noProvider} for a user who has never signed in through a provider. */
export async function providerOf({ id }: User, { loginMethods, store }: Parts): Promise<Provider> {
  const { providers, host } = loginMethods;
  for (const sso of providers) {
    if (!(await store.identities.has(id, sso.issuer))) continue;
    const { tags, ...rest } = sso.mapping;
    return {
      name: sso.name,
      providedFields: new Set<ProvidedField>(['names', ...(Object.keys(rest) as ProvidedField[])]),
      tags: Object.keys(tags),
      maybe: false,
    };
  }
  if (host && (await store.identities.has(id, host.issuer))) {
    return { ...noProvider, name: 'the application that this console is part of', maybe: true };
  }
  return noProvider;
}
