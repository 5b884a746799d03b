// Finds wrong or risky settings from the settings only. `portico doctor` and the settings page of the console show the
// same findings. Checks that need a test (a port, a folder, a database) are only part of the doctor.

import type { Config } from '../config.ts';
import { readParameters } from './address-parameters.ts';
import { isLoopback, isUnprotected, unprotectedWarning } from './exposure.ts';
import { hasSso } from './sso.ts';

export interface Finding {
  readonly state: 'ok' | 'note' | 'wrong';
  readonly text: string;
}

export const ok = (text: string): Finding => ({ state: 'ok', text });
export const note = (text: string): Finding => ({ state: 'note', text });
export const wrong = (text: string): Finding => ({ state: 'wrong', text });

type Check = (config: Config) => Finding | undefined;

export function checkAddress(config: Pick<Config, 'host' | 'publicUrl'>): Finding {
  if (isUnprotected(config)) return note(unprotectedWarning(config));
  if (config.publicUrl === null) return ok(`Address: clients on this machine only, at ${config.host}`);
  const { protocol, hostname } = new URL(config.publicUrl);
  if (protocol === 'http:' && !isLoopbackName(hostname)) {
    return wrong('Address: SERVICE_PUBLIC_URL is http; assistants and browsers can sign in only over https');
  }
  return ok(`Address: ${config.publicUrl}`);
}

/** The host name as in a URL, with brackets around IPv6. */
const isLoopbackName = (hostname: string): boolean => isLoopback(hostname.replace(/^\[|\]$/g, ''));

/** The metrics endpoint has no access control. */
function checkMetricsHost({ metricsHost, metricsPort }: Config): Finding | undefined {
  if (metricsPort === null || isLoopback(metricsHost)) return undefined;
  return note(
    `Metrics: ${metricsHost} can be reached from other machines; allow only Prometheus to reach it (SERVICE_METRICS_HOST)`,
  );
}

const isServer = (url: string | null): url is string => url !== null && !/^sqlite:/i.test(url);

function checkSecret({ secret, storageUrl }: Config): Finding | undefined {
  if (secret !== null || !isServer(storageUrl)) return undefined;
  return note(
    'Secret: processes that share a storage need the same SERVICE_SECRET; without it each data folder generates its own',
  );
}

/** Warns about servers on other machines without encryption. */
function checkEncryption({ storageUrl, redisUrl }: Config): Finding | undefined {
  const isPlain = {
    SERVICE_STORAGE_URL: isServer(storageUrl) && isOnOtherMachine(storageUrl) && !isEncrypted(storageUrl),
    SERVICE_REDIS_URL: redisUrl !== null && isOnOtherMachine(redisUrl) && redisUrl.startsWith('redis:'),
  };
  const names = Object.entries(isPlain).flatMap(([name, plain]) => (plain ? [name] : []));
  if (names.length === 0) return undefined;
  const how = { SERVICE_STORAGE_URL: '?sslmode=require', SERVICE_REDIS_URL: 'rediss:' } as const;
  const descriptions = names.map((name) => `${name} (${how[name as keyof typeof how]})`).join(' and ');
  return note(`Encryption: unencrypted connection to ${descriptions}`);
}

function isEncrypted(url: string): boolean {
  try {
    const { tls } = readParameters(/^postgres/i.test(url) ? 'postgres' : 'mysql', url, []);
    return tls === 'required' || tls === 'verify';
  } catch {
    // The start reports what is wrong with it.
    return true;
  }
}

const isOnOtherMachine = (url: string): boolean => URL.canParse(url) && !isLoopbackName(new URL(url).hostname);

/** CWE-348: a client that can set X-Forwarded-For chooses the address used for checks and limits. */
function checkProxies({ trustedProxies }: Config): Finding | undefined {
  const unlimited = trustedProxies.filter((network) => /\/0$/.test(network));
  if (unlimited.length === 0) return undefined;
  return wrong(
    `Proxies: SERVICE_TRUSTED_PROXIES trusts every address (${unlimited.join(', ')}); set it to the addresses of your proxies`,
  );
}

function checkPasswords(config: Config): Finding | undefined {
  if (!hasSso(config) || !config.ssoPasswords) return undefined;
  return note(
    'Sign-in: passwords work in addition to the OpenID provider; remove SERVICE_SSO_PASSWORDS when it is available again',
  );
}

function checkRetention({ serverUrl, activityDays, adminLogDays }: Config): Finding | undefined {
  if (serverUrl === null || (activityDays === null && adminLogDays === null)) return undefined;
  return note(
    'Logs: SERVICE_ACTIVITY_DAYS and SERVICE_ADMIN_LOG_DAYS have no effect here; set them on the server that has the storage',
  );
}

/** Each returns undefined if there is no finding. */
export const risks: readonly Check[] = [
  checkMetricsHost,
  checkSecret,
  checkEncryption,
  checkProxies,
  checkPasswords,
  checkRetention,
];

/** Findings from the settings only, the worst first. */
export function findProblems(config: Config): readonly Finding[] {
  const found = [checkAddress, ...risks].flatMap((check) => check(config) ?? []);
  const of = (state: Finding['state']) => found.filter((finding) => finding.state === state);
  return [...of('wrong'), ...of('note')];
}
