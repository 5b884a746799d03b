// Paths of the console. Its location does not depend on `basePath`: under the agent's prefix in a host application, at
// /console on a standalone server. Links use the public URL, never a Host header.
import { prefixesOf } from '../http/prefixes.ts';

export interface ConsolePaths {
  /** `https://data.example.com`, in the format of an Origin header. */
  readonly origin: string;
  /** Host with the port, in the format of a Host header. */
  readonly host: string;
  readonly secure: boolean;
  /** Public path of a page such as `/approvals`; '' is the start page. */
  path(page: string): string;
  /** Absolute URL of a page, for links outside the console. */
  url(page: string): string;
  /** The path prefixes of requests. */
  readonly prefixes: readonly string[];
}

/** Both parameters are already validated and have no trailing slash. */
export function createConsolePaths(publicUrl: string, consolePath: string): ConsolePaths {
  const { origin, host, protocol } = new URL(publicUrl);
  const { publicPrefix, prefixes } = prefixesOf(publicUrl, consolePath);
  return {
    origin,
    host,
    secure: protocol === 'https:',
    path: (page) => publicPrefix + page,
    url: (page) => origin + publicPrefix + page,
    prefixes,
  };
}

/** Page that answers the sign-in of a front end of the HTTP API. */
export const frontEndPage = (state: string): string => `/front-ends/${state}`;

/** The logo of the brand. Anybody may read it: clients show it before a sign-in. */
export const logoPage = '/logo';

/** Redirect URI for an OpenID provider; '' is that of SERVICE_SSO_ISSUER. */
export const ssoPage = (provider: string): string => `/sso/callback${provider === '' ? '' : `/${provider}`}`;

/** Page that mails a link for a forgotten password. */
export const forgotPage = '/forgot';

/** Page that shows a run and answers its questions. */
export const runPage = (id: string): string => `/runs/${id}`;

/** Redirect URI for the authorization server of one remote MCP server (workflows/remote-mcp/registration.ts). */
export const remoteCallbackPage = (id: string): string => `/remotes/${id}/callback`;

/** Client ID metadata document for that authorization server. */
export const remoteClientPage = (id: string): string => `/remotes/${id}/client`;

/**
 * Encodes one path segment. It also encodes `*` and similar characters, so the redirect after a sign-in finds the page.
 */
export const segment = (name: string): string =>
  encodeURIComponent(name).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

/** Page with the records of a collection. */
export const dataPage = (collection: string): string => `/data/${segment(collection)}`;

/** Page of one record. `id` is packed (agent/encode/record-id.ts). */
export const recordPage = (collection: string, id: string): string => `${dataPage(collection)}/${segment(id)}`;

/** Page of one approval. */
export const approvalPage = (id: string): string => `/approvals/${id}`;

/** Reads a count of up to 6 digits from a URL or form; undefined for anything else. */
export function parseCount(input: string | null | undefined): number | undefined {
  return input && /^\d{1,6}$/.test(input) ? Number(input) : undefined;
}
