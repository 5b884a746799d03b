// The OpenID providers of SERVICE_SSO_ISSUER and SERVICE_SSO_PROVIDERS.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { fail } from '../errors.ts';
import { issuer, list } from './setting.ts';

export interface SsoProvider {
  /** The last segment of its redirect URIs; '' for SERVICE_SSO_ISSUER, whose URIs have none. */
  readonly id: string;
  readonly issuer: string;
  /** For the button "Sign in with ...". */
  readonly name: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly scopes: readonly string[];
  readonly emailClaim: string;
  readonly verifiedEmail: boolean;
  readonly domains: readonly string[] | null;
  /** JSON. */
  readonly mapping: string | null;
  readonly linkUsers: boolean;
  /** The setting that it comes from, for messages. */
  readonly setting: string;
}

/** The settings of single sign-on, as in the configuration. */
interface SsoConfig {
  readonly ssoIssuer: string | null;
  readonly ssoClientId: string | null;
  readonly ssoClientSecret: string | null;
  readonly ssoName: string | null;
  readonly ssoScopes: readonly string[];
  readonly ssoEmailClaim: string;
  readonly ssoVerifiedEmail: boolean;
  readonly ssoDomains: readonly string[] | null;
  readonly ssoMapping: string | null;
  readonly ssoProviders: string | null;
  readonly linkUsers: boolean;
}

/** Whether users sign in through an OpenID provider. */
export const hasSso = (config: Pick<SsoConfig, 'ssoIssuer' | 'ssoProviders'>): boolean =>
  config.ssoIssuer !== null || config.ssoProviders !== null;

const ENTRY = z.strictObject({
  id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, "expected lower case letters, digits and '-', such as google"),
  issuer: z.string().transform((value, context) => {
    try {
      return issuer(value);
    } catch (error) {
      context.addIssue((error as Error).message);
      return z.NEVER;
    }
  }),
  name: z.string().min(1).max(60).optional(),
  clientId: z.string().min(1),
  clientSecretFile: z.string().min(1).optional(),
  scopes: z.array(z.string().min(1)).optional(),
  emailClaim: z.string().min(1).default('email'),
  verifiedEmail: z.boolean().default(true),
  domains: z.array(z.string().min(1)).min(1).optional(),
  mapping: z.record(z.string(), z.unknown()).optional(),
  linkUsers: z.boolean().default(false),
});

/** Accepts the text of the setting. Throws a plain Error with the position of the problem. */
export function readProviders(text: string): string {
  parse(text);
  return text;
}

function parse(text: string): readonly z.infer<typeof ENTRY>[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Error('expected JSON such as [{"id":"google","issuer":"https://accounts.google.com","clientId":"..."}]');
  }
  if (Array.isArray(json) && json.some((each) => Object.hasOwn(Object(each), 'clientSecret')))
    throw new Error('a client secret belongs into a file of its own: write clientSecretFile');
  const parsed = z.array(ENTRY).min(1).safeParse(json);
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  throw new Error(`${first?.path.join('.') || 'it'}: ${first?.message}`);
}

/** SERVICE_SSO_ISSUER comes first. Throws CONFIGURATION if two providers have the same id, issuer or name. */
export function ssoProvidersOf(config: SsoConfig): readonly SsoProvider[] {
  const providers = [...fromSettings(config), ...(config.ssoProviders === null ? [] : fromList(config.ssoProviders))];
  for (const [at, { id, issuer, name }] of providers.entries()) {
    const others = providers.slice(0, at);
    const again = (what: string) => refuse(`two providers have the same ${what}`);
    if (others.some((other) => other.id === id)) again(`id '${id}'`);
    // OpenID Connect Core section 5.7: the issuer and the subject identify a user.
    if (others.some((other) => new URL(other.issuer).href === new URL(issuer).href)) again(`issuer ${issuer}`);
    if (others.some((other) => other.name.toLowerCase() === name.toLowerCase())) again(`name '${name}'`);
  }
  const unsafe = providers.find(({ linkUsers, verifiedEmail }) => linkUsers && !verifiedEmail);
  if (unsafe?.id) refuse(`'${unsafe.id}': users are linked only by verified addresses. Leave verifiedEmail on`);
  return providers;
}

function fromSettings(config: SsoConfig): readonly SsoProvider[] {
  const { ssoIssuer, ssoClientId } = config;
  if (ssoIssuer === null || ssoClientId === null) return [];
  return [
    {
      id: '',
      issuer: ssoIssuer,
      name: config.ssoName ?? new URL(ssoIssuer).host,
      clientId: ssoClientId,
      clientSecret: config.ssoClientSecret,
      scopes: config.ssoScopes,
      emailClaim: config.ssoEmailClaim,
      verifiedEmail: config.ssoVerifiedEmail,
      domains: config.ssoDomains,
      mapping: config.ssoMapping,
      linkUsers: config.linkUsers,
      setting: 'SERVICE_SSO_ISSUER',
    },
  ];
}

function fromList(text: string): readonly SsoProvider[] {
  return parse(text).map((entry) => ({
    ...entry,
    name: entry.name ?? new URL(entry.issuer).host,
    clientSecret: entry.clientSecretFile === undefined ? null : readSecret(entry.id, entry.clientSecretFile),
    scopes: [...new Set(['openid', ...(entry.scopes ?? ['email', 'profile'])])],
    domains: entry.domains ? list(entry.domains.join(',').toLowerCase()) : null,
    mapping: entry.mapping ? JSON.stringify(entry.mapping) : null,
    setting: `SERVICE_SSO_PROVIDERS, '${entry.id}'`,
  }));
}

function readSecret(id: string, path: string): string {
  let text = '';
  try {
    text = readFileSync(resolve(path), 'utf8').trim();
  } catch {
    refuse(`'${id}': the file '${path}' cannot be read`);
  }
  return text === '' ? refuse(`'${id}': the file '${path}' is empty`) : text;
}

function refuse(problem: string): never {
  return fail('CONFIGURATION', { problem: `SERVICE_SSO_PROVIDERS: ${problem}.` });
}
