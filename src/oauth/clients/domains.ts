// The domains that the operator allows for client documents and redirect URIs.
import { canonicalHost } from '../../core/config/hosts.ts';

/** Domains, each including its subdomains. */
export interface DomainPolicy {
  /** Null: any domain. */
  readonly allowed: readonly string[] | null;
  /** Takes precedence over `allowed`. */
  readonly denied: readonly string[];
}

export const anyDomain: DomainPolicy = { allowed: null, denied: [] };

/** Returns the reason why a host is refused; undefined if it is allowed. */
export function findDomainProblem(hostname: string, { allowed, denied }: DomainPolicy): string | undefined {
  const host = canonicalHost(hostname);
  const isListed = (domains: readonly string[]) =>
    domains.map(canonicalHost).some((domain) => host === domain || host.endsWith(`.${domain}`));
  if (isListed(denied)) return 'its domain is on the deny-list of this server';
  if (allowed && !isListed(allowed)) return 'its domain is not on the allow-list of this server';
  return undefined;
}
