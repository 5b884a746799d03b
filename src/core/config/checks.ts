// Checks that go beyond the text of a single value.

import { fail } from '../errors.ts';

export function checkPublicUrl(value: string): string {
  const problem = (what: string) => fail('CONFIGURATION', { problem: `SERVICE_PUBLIC_URL: ${what}.` });
  if (!URL.canParse(value)) problem('expected an address such as https://data.example.com');
  const url = new URL(value);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') problem('expected http or https');
  if (url.username || url.password || url.search || url.hash)
    problem('credentials, query and fragment are not allowed');
  return url.origin + url.pathname.replace(/\/+$/, '');
}

/** Behaviour 7: basePath is an error at start if the URL of the agent has a path. */
export function checkBasePath(value: string, publicUrl: string | null): string {
  const path = `/${value}`.replace(/\/+/g, '/').replace(/\/$/, '');
  if (path !== '' && !/^(\/[A-Za-z0-9_-]+)+$/.test(path)) {
    fail('CONFIGURATION', { problem: `basePath: expected segments of letters, digits, '-' and '_', got '${value}'.` });
  }
  if (path !== '' && publicUrl && new URL(publicUrl).pathname !== '/') {
    fail('CONFIGURATION', {
      problem: 'basePath needs the agent at the root of its domain, but SERVICE_PUBLIC_URL has a path.',
    });
  }
  return path;
}

/** Checks the paths of the HTTP APIs. Both may be the root. */
export function checkApiPath(name: string, value: string, basePath: string): string {
  const path = `/${value}`.replace(/\/+/g, '/').replace(/\/$/, '');
  const problem = (what: string) => fail('CONFIGURATION', { problem: `${name}: ${what}, got '${value}'.` });
  if (!/^(\/[-~\w]+)*$/.test(path)) problem("expected a path such as /service, of letters, digits, '-', '_' and '~'");
  const taken = [`${basePath}/mcp`, `${basePath}/oauth`].find((one) => `${path}/`.startsWith(`${one}/`));
  if (taken !== undefined) problem(`expected a path outside of ${taken}`);
  return path;
}

/** The platform endpoint claims every path below its own, like the console. */
export function checkPlatformPath(value: string, basePath: string): string {
  const path = checkApiPath('SERVICE_PLATFORM_PATH', value, basePath);
  if (path === '')
    fail('CONFIGURATION', { problem: "SERVICE_PLATFORM_PATH: expected a path such as /platform, got ''." });
  return path;
}

/**
 * All permissions come from this server, which requires TLS or the same machine (OWASP ASVS 9.1.1). It excludes
 * settings for a local storage.
 */
export function checkServerUrl(config: {
  readonly serverUrl: string | null;
  readonly storageUrl: string | null;
  readonly platformDoor: boolean;
}): string {
  const problem = (what: string) => fail('CONFIGURATION', { problem: `serverUrl (SERVICE_SERVER_URL): ${what}.` });
  const url = URL.canParse(`${config.serverUrl}`) ? new URL(`${config.serverUrl}`) : undefined;
  if (!url || !['https:', 'http:'].includes(url.protocol))
    return problem('expected an address such as https://platform.example.com');
  if (url.username || url.password || url.search || url.hash)
    problem('credentials, query and fragment are not allowed');
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url.protocol === 'http:' && !isLocal) problem('expected https; http is allowed only on this machine');
  if (config.storageUrl !== null)
    problem('SERVICE_STORAGE_URL is also set, but the platform has the storage. Remove one of the two');
  if (config.platformDoor)
    problem('SERVICE_PLATFORM_DOOR is also set, but only a server with its own storage can accept agents');
  return url.origin + url.pathname.replace(/\/+$/, '');
}

/**
 * Checks the format of an Origin header (RFC 6454 section 7). Sign-ins deliver their result to these origins, which
 * therefore need https unless they are local.
 */
export function checkOrigin(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isLocal = url !== undefined && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal);
  if (url && isSafe && url.href === `${url.origin}/`) return url.origin;
  return fail('CONFIGURATION', {
    problem: `SERVICE_AGENT_ORIGINS: expected origins such as https://admin.example.com (http only on this machine), got '${value}'.`,
  });
}

export interface SsoSettings {
  readonly ssoIssuer: string | null;
  readonly ssoClientId: string | null;
  readonly ssoVerifiedEmail: boolean;
  readonly linkUsers: boolean;
}

/** Rejects incomplete settings. For example, a client without an issuer would leave passwords enabled. */
export function checkSso({ ssoIssuer, ssoClientId, ssoVerifiedEmail, linkUsers }: SsoSettings): void {
  const problem = (what: string) => fail('CONFIGURATION', { problem: what });
  if (ssoIssuer !== null && ssoClientId === null)
    problem(
      'SERVICE_SSO_ISSUER: SERVICE_SSO_CLIENT_ID is missing. The provider issues one when you register this server.',
    );
  if (ssoIssuer === null && ssoClientId !== null)
    problem('SERVICE_SSO_CLIENT_ID: SERVICE_SSO_ISSUER is missing. Set it to the provider, or remove both.');
  if (ssoIssuer !== null && linkUsers && !ssoVerifiedEmail)
    problem('SERVICE_LINK_USERS: users are linked only by verified addresses. Leave SERVICE_SSO_VERIFIED_EMAIL on.');
}

/** The receiver recognizes a notification by its signature, so an address needs a secret. */
export function checkNotify({
  notifyUrl,
  notifySecret,
}: {
  readonly notifyUrl: string | null;
  readonly notifySecret: string | null;
}): void {
  const problem = (what: string) => fail('CONFIGURATION', { problem: what });
  if (notifyUrl === null) {
    if (notifySecret !== null) problem('SERVICE_NOTIFY_SECRET: SERVICE_NOTIFY_URL is missing. Set both, or neither.');
    return;
  }
  if (!URL.canParse(notifyUrl) || !/^https?:$/.test(new URL(notifyUrl).protocol))
    problem('SERVICE_NOTIFY_URL: expected an http or https address.');
  if (notifySecret === null)
    problem('SERVICE_NOTIFY_URL: SERVICE_NOTIFY_SECRET is missing. Set it to the secret of the receiver, whsec_...');
}

/** A mail needs a sender, which is not derived from the name of a host. */
export function checkMail({
  mailUrl,
  mailFrom,
}: {
  readonly mailUrl: string | null;
  readonly mailFrom: string | null;
}): void {
  if ((mailUrl === null) === (mailFrom === null)) return;
  const [given, missing] = mailUrl === null ? ['FROM', 'URL'] : ['URL', 'FROM'];
  fail('CONFIGURATION', {
    problem: `SERVICE_MAIL_${given}: SERVICE_MAIL_${missing} is missing. Set both, or neither.`,
  });
}

/** The console claims every path below its own. It must not be the root or overlap the paths of MCP, OAuth and the API. */
export function checkConsolePath(value: string, basePath: string, apiPath: string): string {
  const path = `/${value}`.replace(/\/+/g, '/').replace(/\/$/, '');
  const problem = (what: string) =>
    fail('CONFIGURATION', { problem: `SERVICE_CONSOLE_PATH: ${what}, got '${value}'.` });
  if (!/^(\/[-~\w]+)+$/.test(path)) problem("expected a path such as /console, of letters, digits, '-', '_' and '~'");
  const taken = [`${basePath}/mcp`, `${basePath}/oauth`, `${apiPath}/v1`].find((one) =>
    `${path}/`.startsWith(`${one}/`),
  );
  if (taken !== undefined) problem(`expected a path outside of ${taken}`);
  return path;
}
