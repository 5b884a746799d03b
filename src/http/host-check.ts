// Checks the Host header. In a DNS rebinding attack, it has the name of the attacker's site.
import type { RequestHandler } from 'express';
import { canonicalHost } from '../core/config/hosts.ts';
import type { Config } from '../core/config.ts';
import { AppError } from '../core/errors.ts';

/** RFC 9110 section 7.4: fails with HOST_NOT_ALLOWED for a Host that is not ours (`createHostCheck`). */
export function hostCheck(
  publicHost: string | undefined,
  config: Pick<Config, 'allowedHosts' | 'host'>,
): RequestHandler {
  const isOurs = createHostCheck(publicHost, config);
  return (req, _res, next) => next(isOurs(req.headers.host) ? undefined : new AppError('HOST_NOT_ALLOWED', {}));
}

const wildcards = new Set(['0.0.0.0', '::', '[::]', '*']);

/**
 * Whether a Host header is valid: the public host, a loopback name, the listening address or one of
 * SERVICE_ALLOWED_HOSTS, each without its port.
 */
export function createHostCheck(
  publicHost: string | undefined,
  config: Pick<Config, 'allowedHosts' | 'host'>,
): (host?: string) => boolean {
  const hosts = new Set(['localhost', '127.0.0.1', '[::1]']);
  const ownHosts = [publicHost, ...(wildcards.has(config.host) ? [] : [config.host]), ...config.allowedHosts];
  for (const host of ownHosts) if (host !== undefined) hosts.add(hostname(withBrackets(host)) ?? canonicalHost(host));
  // Most requests use the same few hosts. The cache avoids parsing a URL for each.
  const accepted = new Set<string>();
  return (host) => {
    if (host === undefined) return false;
    if (accepted.has(host)) return true;
    const name = hostname(host);
    if (name === undefined || !hosts.has(name)) return false;
    if (accepted.size < 100) accepted.add(host);
    return true;
  };
}

function hostname(host: string): string | undefined {
  const text = `http://${host}`;
  if (/[/\\?#@\s]/.test(host) || !URL.canParse(text)) return undefined;
  return canonicalHost(new URL(text).hostname);
}

function withBrackets(host: string): string {
  return host.includes(':') && !host.startsWith('[') && host.split(':').length > 2 ? `[${host}]` : host;
}
