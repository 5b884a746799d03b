// The HTTP client for a Portico server: metadata, device sign-in (RFC 8628), tokens and the structure of its data
// sources. Every error message says what to do next. Metadata is accepted only for the server's own origin.
import type { Structure } from '../../agent/artifacts/structure.ts';
import { createProof, proofHeader } from '../../api/cloud/environment-proof.ts';
import type { CloudSchema } from '../../api/cloud/router.ts';
import { systemClock } from '../../core/clock.ts';
import { AppError, fail } from '../../core/errors.ts';
import { commandLineClient } from '../../oauth/clients/normalize.ts';
import { CLOUD_MEMBER, deviceGrant } from '../../oauth/server/metadata.ts';
import { cloudScope, offlineAccess } from '../../oauth/server/scopes.ts';

export interface CloudServer {
  /** The server's own name, the key under which its tokens are stored. */
  readonly issuer: string;
  readonly resource: string;
  readonly deviceEndpoint: string;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint: string;
}

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

interface DeviceRequest {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly address: string;
  /** Includes the user code. */
  readonly completeAddress: string;
  readonly expiresInSeconds: number;
  readonly intervalSeconds: number;
}

const timeoutMs = 30_000;
/** Added to the interval when the server asks for slower polling (RFC 8628 section 3.5). */
const slowDownSeconds = 5;
const wellKnown = '/.well-known/oauth-authorization-server';
const clientId = commandLineClient.client_id;

const failCommand = (problem: string, cause?: unknown): never => {
  throw new AppError('CONFIGURATION', { problem }, cause);
};

/** Throws CONFIGURATION if no server responds, if it is not Portico, or if it does not allow this sign-in. */
export async function findServer(address: string): Promise<CloudServer> {
  const server = readServer(address);
  const { origin, pathname } = new URL(server);
  const path = pathname.replace(/\/+$/, '');
  const metadataUrls = [...new Set([`${origin}${wellKnown}${path}`, `${origin}${wellKnown}`])];
  for (const metadataUrl of metadataUrls) {
    const { body } = await request(server, metadataUrl, {});
    if (typeof body?.issuer !== 'string') continue;
    return readMetadata(server, body);
  }
  return failCommand(
    `The server at ${server} is not a Portico server. Set another with --server: the URL of its /mcp, without /mcp.`,
  );
}

function readServer(address: string): string {
  const server = address.replace(/\/+$/, '').replace(/\/mcp$/, '');
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username || url.password) {
    return failCommand(`--server: expected an address such as https://data.example.com, got '${address}'.`);
  }
  // RFC 8628 section 5.2, RFC 6749 section 1.6: tokens need TLS. Loopback connections are exempt.
  if (url.protocol === 'http:' && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)) {
    return failCommand(`--server: ${server} is not https. Only a server on this machine may use http.`);
  }
  return server;
}

type Json = Readonly<Record<string, unknown>>;

function readMetadata(server: string, metadata: Json): CloudServer {
  const issuer = `${metadata.issuer}`;
  // RFC 8414 section 3.3: the issuer must match the requested server.
  if (issuer !== server) {
    return failCommand(`The server at ${server} has the URL ${issuer}. If you want to use it: --server ${issuer}`);
  }
  const addressOf = (name: string): string => {
    const address = metadata[name];
    if (typeof address !== 'string') {
      return failCommand(
        `${server} does not allow sign-in with portico cloud: it is another kind of server, or has SERVICE_CLOUD=false.`,
      );
    }
    // Tokens and codes go only to the origin that the user named.
    const isThere = URL.canParse(address) && new URL(address).origin === new URL(server).origin;
    return isThere
      ? address
      : failCommand(`The server at ${server} refers to another server (${name}). No request was sent there.`);
  };
  return {
    issuer,
    resource: addressOf(CLOUD_MEMBER),
    deviceEndpoint: addressOf('device_authorization_endpoint'),
    tokenEndpoint: addressOf('token_endpoint'),
    revocationEndpoint: addressOf('revocation_endpoint'),
  };
}

export async function requestCode(server: CloudServer): Promise<DeviceRequest> {
  const { status, body } = await post(server, server.deviceEndpoint, {
    scope: `${cloudScope} ${offlineAccess}`,
    resource: server.resource,
  });
  const { device_code, user_code, verification_uri, verification_uri_complete, expires_in, interval } = body ?? {};
  if (status !== 200 || typeof device_code !== 'string' || typeof user_code !== 'string') {
    return failCommand(`${server.issuer} returned no sign-in code: ${describeRefusal(status, body)}`);
  }
  const sameOrigin = (address: unknown): string => {
    const isThere = URL.canParse(`${address}`) && new URL(`${address}`).origin === new URL(server.issuer).origin;
    return isThere
      ? `${address}`
      : failCommand(`The sign-in page of ${server.issuer} is on another server. It was not opened.`);
  };
  return {
    deviceCode: device_code,
    userCode: user_code,
    address: sameOrigin(verification_uri),
    completeAddress: sameOrigin(verification_uri_complete ?? verification_uri),
    expiresInSeconds: Number(expires_in) || 600,
    // RFC 8628 section 3.2: five seconds by default.
    intervalSeconds: Number(interval) || 5,
  };
}

/** Polls until the user answers. Throws CONFIGURATION if the user denies or does not answer in time. */
export async function awaitAnswer(server: CloudServer, deviceRequest: DeviceRequest): Promise<Tokens> {
  const until = systemClock.monotonic() + deviceRequest.expiresInSeconds * 1000;
  let interval = deviceRequest.intervalSeconds;
  while (systemClock.monotonic() < until) {
    await systemClock.sleep(interval * 1000);
    const answer = await post(server, server.tokenEndpoint, {
      grant_type: deviceGrant,
      device_code: deviceRequest.deviceCode,
    }).catch(() => undefined);
    // RFC 8628 section 3.5: after a failed request, polling continues with a longer interval.
    if (!answer || answer.status >= 500) {
      interval += slowDownSeconds;
      continue;
    }
    const tokens = readTokens(answer.body);
    if (answer.status === 200 && tokens) return tokens;
    const error = answer.body?.error;
    if (error === 'slow_down') interval += slowDownSeconds;
    else if (error === 'access_denied')
      return failCommand('The sign-in was cancelled in the browser. No changes were made.');
    else if (error === 'expired_token') break;
    else if (error !== 'authorization_pending') {
      return failCommand(`The sign-in failed: ${describeRefusal(answer.status, answer.body)}`);
    }
  }
  return failCommand('The code has expired. Run the command again for a new one.');
}

/** Returns undefined if the server rejects the refresh token. */
export async function refreshTokens(server: CloudServer, refreshToken: string): Promise<Tokens | undefined> {
  const { status, body } = await post(server, server.tokenEndpoint, {
    grant_type: 'refresh_token',
    refresh_token: refreshToken,
  });
  if (status === 200) return readTokens(body);
  if (status < 500 && status !== 429) return undefined;
  return failCommand(`${server.issuer} did not renew the sign-in: ${describeRefusal(status, body)}`);
}

/** RFC 7009. A failure is ignored. */
export async function revoke(server: CloudServer, refreshToken: string): Promise<void> {
  await post(server, server.revocationEndpoint, { token: refreshToken }).catch(() => undefined);
}

/** Returns undefined for an invalid token. Throws CONFIGURATION with the server's message for any other refusal. */
export async function fetchStructure(
  server: CloudServer,
  accessToken: string,
  envSecret: string,
): Promise<Structure | undefined> {
  const url = `${server.resource}/schema`;
  const proof = createProof({ method: 'GET', url, token: accessToken }, envSecret, systemClock.now());
  const { status, body } = await request(server.issuer, url, {
    headers: { authorization: `Bearer ${accessToken}`, [proofHeader]: proof },
  });
  if (status === 401) return undefined;
  const { format, structure } = (body ?? {}) as Partial<CloudSchema>;
  if (status !== 200)
    return failCommand(`${server.issuer} did not return its structure: ${describeRefusal(status, body)}`);
  if (format !== 1 || !structure) {
    return failCommand(
      `${server.issuer} returned its structure in the format of another version. Install the same version of portico here.`,
    );
  }
  return structure;
}

function readTokens(body: Json | undefined): Tokens | undefined {
  const { access_token, refresh_token, expires_in } = body ?? {};
  if (typeof access_token !== 'string' || typeof refresh_token !== 'string') return undefined;
  const expiresAt = systemClock.now() + (Number(expires_in) || 0) * 1000;
  return { accessToken: access_token, refreshToken: refresh_token, expiresAt };
}

/** Returns the server's message on one line, without terminal control characters. */
function describeRefusal(status: number, body: Json | undefined): string {
  const text = body?.message ?? body?.error_description ?? body?.error;
  const shown = typeof text === 'string' ? text.replace(/[^\x20-\x7e\u00a0-\uffff]+/g, ' ').slice(0, 300) : 'no reason';
  return `${shown.replace(/\.?$/, '.')} (${status})`;
}

interface Answer {
  readonly status: number;
  /** Undefined if the body is not a JSON object. */
  readonly body: Json | undefined;
}

function post(server: CloudServer, url: string, form: Readonly<Record<string, string>>): Promise<Answer> {
  return request(server.issuer, url, { method: 'POST', body: new URLSearchParams({ client_id: clientId, ...form }) });
}

async function request(server: string, url: string, init: RequestInit): Promise<Answer> {
  const controller = new AbortController();
  const cancel = systemClock.after(timeoutMs, () => controller.abort());
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal: controller.signal });
    const text = await response.text();
    return { status: response.status, body: parse(text) };
  } catch (cause) {
    const { code } = ((cause as Error).cause ?? {}) as NodeJS.ErrnoException;
    const why = controller.signal.aborted ? 'no answer in 30 seconds' : (code ?? 'no answer');
    return fail(
      'CONFIGURATION',
      { problem: `No server answers at ${server} (${why}). Start it, or set another with --server.` },
      cause,
    );
  } finally {
    cancel();
  }
}

function parse(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}
