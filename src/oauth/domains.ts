// Which domains an operator lets clients use, for their documents and for their redirects.
/** Domains, each with all below it. */
export interface DomainPolicy {
  /** Null: any. */
  readonly allowed: readonly string[] | null;
  /** Stands before `allowed`. */
  readonly denied: readonly string[];
}

export const anyDomain: DomainPolicy = { allowed: null, denied: [] };

/** The list that keeps the host out; undefined when it may be used. */
export function findDomainProblem(host: string, { allowed, denied }: DomainPolicy): string | undefined {
  const isIn = (domains: readonly string[]) =>
    domains.some((domain) => host === domain.toLowerCase() || host.endsWith(`.${domain.toLowerCase()}`));
  if (isIn(denied)) return 'its domain is on the deny-list of this server';
  if (allowed && !isIn(allowed)) return 'its domain is not on the allow-list of this server';
  return undefined;
}
