// What `portico cloud` asks a server: the structure of its data sources. The checks, in order: is the path ours, is the Host
// ours (403), does the path exist (404), the method (405), is the token good and of this resource alone (401), how often
// (429), is its user an admin or a developer (403), and does whoever asks know the environment secret (403), wrong ones
// counted (429). Each answer is an entry in the activity log. No other kind of token is looked at, and no cookie.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Engine } from '../agent/engine.ts';
import type { Structure } from '../agent/structure.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { retryAfterOf } from '../core/errors/retry-after.ts';
import { fail, isAppError, toAppError } from '../core/errors.ts';
import { createSharedLimiter } from '../core/limit.ts';
import type { Observe } from '../core/observe.ts';
import { hashToken, randomId } from '../core/secret.ts';
import { createAccessTokenCheck } from '../oauth/access-token.ts';
import { createAddressReader, createHostCheck } from '../oauth/address.ts';
import type { Verified } from '../oauth/bearer.ts';
import { sendJson } from '../oauth/reply.ts';
import { cloudScope } from '../oauth/scopes.ts';
import type { Store } from '../store/store.ts';
import { checkProof, proofHeader } from './environment-proof.ts';
import type { ApiPaths } from './paths.ts';

export interface CloudFrontParts {
  readonly config: Pick<Config, 'trustedProxies' | 'allowedHosts' | 'signInAttempts'>;
  readonly paths: ApiPaths;
  /** Audience of its tokens. */
  readonly resource: string;
  readonly store: Pick<Store, 'oauth' | 'permissions' | 'connections' | 'activity' | 'windows'>;
  readonly engine: Pick<Engine, 'structure'>;
  readonly environmentSecrets: () => Promise<readonly string[]>;
  readonly observe: Observe;
  readonly clock: Clock;
}

export interface CloudFront {
  /** Takes the request and answers true when its path is ours; otherwise does nothing and answers false. */
  handle(req: IncomingMessage, res: ServerResponse): boolean;
}

/** The body of the answer. */
export interface CloudSchema {
  readonly format: 1;
  readonly structure: Structure;
}

const place = '/v1/cloud';
const callsPerMinute = 60;
const guessSeconds = 900;

/** Identifies the entrance (RFC 8707): of it alone are the tokens of the command line. */
export function cloudResourceOf({ address }: Pick<ApiPaths, 'address'>): string {
  return `${address}/cloud`;
}

const refuse = (problem: string): never => fail('UNAUTHENTICATED', { problem });

const problems = {
  missing: 'The proof of the environment secret is missing. Give the secret as SERVICE_ENV_SECRET or --env-secret.',
  stale: 'The clocks of the two machines are more than five minutes apart. Set them, and try again.',
  wrong:
    'The environment secret is not the one of this environment. On the server, `portico cloud secret` shows it, or the application sets it as envSecret.',
} as const;
const unknownSecret =
  'This process was not told the environment secret that the storage belongs to. Start it with SERVICE_ENV_SECRET.';

export function createCloudFront(parts: CloudFrontParts): CloudFront {
  const { config, paths, resource, store, engine, observe, clock } = parts;
  const readAddress = createAddressReader(config.trustedProxies);
  const isOurHost = createHostCheck(paths.host, config);
  const shared = { windows: store.windows, clock };
  const calls = createSharedLimiter('cloud', { points: callsPerMinute, seconds: 60 }, shared);
  const guesses = createSharedLimiter('cloud-secret', { points: config.signInAttempts, seconds: guessSeconds }, shared);
  const check = createAccessTokenCheck({
    store,
    paths: { resource },
    clock,
    scopesOf: (granted) => new Set(granted.split(' ').filter((name) => name === cloudScope)),
  });

  const authenticate = async (authorization: string | undefined): Promise<Verified & { readonly token: string }> => {
    // RFC 6750 section 2.1: the Authorization header, and no other place.
    const token = /^Bearer +([A-Za-z0-9\-._~+/]{16,512}=*)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) return refuse('A token of the command line is needed: `portico cloud login`.');
    const verified = await check(hashToken(token));
    // RFC 9449 section 7.2: a token bound to a key is not usable as a plain bearer token.
    if (verified.thumbprint !== undefined) return refuse('The token is bound to a key.');
    if (!verified.scopes.has(cloudScope)) return refuse(`The token has no scope ${cloudScope}.`);
    return { ...verified, token };
  };

  const checkSecret = async (req: IncomingMessage, userId: number, token: string, url: string): Promise<void> => {
    const secrets = await parts.environmentSecrets();
    if (secrets.length === 0) fail('DENIED', { problem: unknownSecret });
    // CWE-307: an operator may have chosen a short secret. Counted before it is compared.
    await guesses.consume(`${userId}`);
    const header = req.headers[proofHeader];
    const proven = { method: 'GET', url, token };
    const state = checkProof(typeof header === 'string' ? header : undefined, proven, secrets, clock.now());
    if (state !== 'wrong') await guesses.giveBack(`${userId}`);
    if (state !== 'good') fail('DENIED', { problem: problems[state] });
  };

  const answer = async (req: IncomingMessage, path: string): Promise<CloudSchema> => {
    // DNS rebinding (RFC 9110 section 7.4): only names that are ours.
    if (!isOurHost(req.headers.host)) fail('HOST_NOT_ALLOWED', {});
    if (path !== `${place}/schema`) fail('NOT_FOUND', { path: (req.url ?? '/').split('?', 1)[0]! });
    const method = req.method ?? '';
    if (method !== 'GET') fail('METHOD_NOT_ALLOWED', { method, allow: ['GET'] });
    const from = clock.monotonic();
    const startedAt = clock.now();
    const holder = await authenticate(req.headers.authorization);
    const { userId, clientId, clientName, grantId, access } = holder;
    const log = (outcome: 'completed' | 'denied', code?: string) =>
      store.activity.record({
        userId,
        renderingId: access.caller.renderingId,
        clientId,
        clientName,
        action: 'cloud.schema',
        type: 'read',
        outcome,
        ...(code !== undefined && { code }),
        startedAt,
        durationMs: Math.round(clock.monotonic() - from),
      });
    try {
      await calls.consume(`${userId}`);
      const structure = engine.structure(access);
      await checkSecret(req, userId, holder.token, `${resource}/schema`);
      if (grantId !== undefined) store.connections.noteUse(grantId);
      log('completed');
      return { format: 1, structure };
    } catch (error) {
      if (isAppError(error)) log('denied', error.code);
      throw error;
    }
  };

  const sendFailure = (req: IncomingMessage, res: ServerResponse, thrown: unknown): void => {
    const requestId = randomId();
    const error = toAppError(thrown, requestId);
    if (error.code === 'INTERNAL') observe({ type: 'failure', where: 'cloud', requestId, cause: thrown });
    const { authorization } = req.headers;
    const address = readAddress(req);
    if (isAppError(error, 'UNAUTHENTICATED')) {
      // RFC 6750 section 3: no error code when the request carried no credentials at all.
      const told = authorization === undefined ? '' : ', error="invalid_token"';
      res.setHeader('WWW-Authenticate', `Bearer realm="cloud"${told}`);
      if (authorization !== undefined)
        observe({ type: 'security', event: 'cloud.token-refused', address, detail: error.message });
    }
    if (notable.has(error.code)) observe({ type: 'security', event: 'cloud.refused', address, detail: error.message });
    if (isAppError(error, 'METHOD_NOT_ALLOWED')) res.setHeader('Allow', error.details.allow.join(', '));
    const wait = retryAfterOf(error);
    if (wait !== undefined) res.setHeader('Retry-After', `${wait}`);
    sendJson(res, error.status, { error: error.code.toLowerCase(), message: error.message, code: error.code });
  };

  return {
    handle(req, res) {
      const path = paths.locate((req.url ?? '/').split('?', 1)[0]!);
      if (path !== place && !path?.startsWith(`${place}/`)) return false;
      answer(req, path).then(
        (body) => sendJson(res, 200, body),
        (error: unknown) => sendFailure(req, res, error),
      );
      return true;
    },
  };
}

/** What an operator wants to be told of, beyond somebody who has to sign in again. */
const notable: ReadonlySet<string> = new Set(['HOST_NOT_ALLOWED', 'RATE_LIMITED', 'DENIED']);
