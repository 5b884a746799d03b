// The endpoint for `portico cloud`, which returns the structure of the data sources. It checks in this order: the Host (403), the route (404), the method (405), the token and its resource (401), the rate limit (429), the user's
// level, which must be admin or developer (403), and the proof of the environment secret (403). Wrong proofs have their
// own limit (429). The activity log records each response. The endpoint accepts no other kind of token and reads no
// cookies.

import type { IncomingMessage } from 'node:http';
import type { Router } from 'express';
import type { Structure } from '../../agent/artifacts/structure.ts';
import type { Engine } from '../../agent/engine.ts';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import { type ErrorCode, fail, isAppError } from '../../core/errors.ts';
import { createSharedLimiter } from '../../core/limit.ts';
import type { Observe } from '../../core/observe.ts';
import { hashToken } from '../../core/secret.ts';
import { createAddressReader } from '../../http/client-address.ts';
import { bearerChallenge, errorReply } from '../../http/error-reply.ts';
import { hostCheck } from '../../http/host-check.ts';
import { sendJson } from '../../http/reply.ts';
import { addRoutes, createRouter, notFound } from '../../http/router.ts';
import { cloudScope } from '../../oauth/server/scopes.ts';
import { createAccessTokenCheck } from '../../oauth/tokens/access-token.ts';
import type { Verified } from '../../oauth/tokens/verify.ts';
import { outcomeOfCode } from '../../store/audit/activity.ts';
import type { Store } from '../../store/store.ts';
import type { ApiPaths } from '../paths.ts';
import { checkProof, proofHeader } from './environment-proof.ts';

interface CloudRouterParts {
  readonly config: Pick<Config, 'trustedProxies' | 'allowedHosts' | 'host' | 'signInAttempts'>;
  readonly paths: ApiPaths;
  /** The audience of its tokens. */
  readonly resource: string;
  readonly store: Pick<Store, 'oauth' | 'permissions' | 'connections' | 'activity' | 'windows'>;
  readonly engine: Pick<Engine, 'structure'>;
  readonly environmentSecrets: () => Promise<readonly string[]>;
  readonly observe: Observe;
  readonly clock: Clock;
}

/** The response body. */
export interface CloudSchema {
  readonly format: 1;
  readonly structure: Structure;
}

const MAX_CALLS_PER_MINUTE = 60;
const guessSeconds = 900;

const refuse = (problem: string): never => fail('UNAUTHENTICATED', { problem });

const problems = {
  missing: 'The proof of the environment secret is missing. Pass the secret as SERVICE_ENV_SECRET or --env-secret.',
  stale: 'The clocks of the two machines are more than five minutes apart. Correct them, and try again.',
  wrong:
    'The environment secret does not match this environment. On the server, `portico cloud secret` shows it, or the application sets it as envSecret.',
} as const;
const unknownSecret =
  'This process does not have the environment secret of its storage. Start it with SERVICE_ENV_SECRET.';

/** Mount it at `/v1/cloud`. */
export function createCloudRouter(parts: CloudRouterParts): Router {
  const { config, paths, resource, store, engine, observe, clock } = parts;
  const readAddress = createAddressReader(config.trustedProxies);
  const shared = { windows: store.windows, clock };
  const calls = createSharedLimiter('cloud', { points: MAX_CALLS_PER_MINUTE, seconds: 60 }, shared);
  const guesses = createSharedLimiter('cloud-secret', { points: config.signInAttempts, seconds: guessSeconds }, shared);
  const check = createAccessTokenCheck({
    store,
    paths: { resource },
    clock,
    scopesOf: (granted) => new Set(granted.split(' ').filter((name) => name === cloudScope)),
  });

  const authenticate = async (authorization: string | undefined): Promise<Verified & { readonly token: string }> => {
    // RFC 6750 section 2.1: the token must be in the Authorization header.
    const token = /^Bearer +([A-Za-z0-9\-._~+/]{16,512}=*)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) return refuse('A command-line token is required. Sign in with `portico cloud login`.');
    const verified = await check(hashToken(token));
    // RFC 9449 section 7.2: a token bound to a key is not usable as a plain bearer token.
    if (verified.thumbprint !== undefined)
      return refuse('The token is bound to a key, and cannot be used as a bearer token.');
    if (!verified.scopes.has(cloudScope)) return refuse(`The token lacks the scope ${cloudScope}.`);
    return { ...verified, token };
  };

  const checkSecret = async (req: IncomingMessage, userId: number, token: string, url: string): Promise<void> => {
    const secrets = await parts.environmentSecrets();
    if (secrets.length === 0) fail('DENIED', { problem: unknownSecret });
    // CWE-307: an operator may have chosen a short secret. Each attempt is counted before the comparison.
    await guesses.consume(`${userId}`);
    const header = req.headers[proofHeader];
    const proofRequest = { method: 'GET', url, token };
    const state = checkProof(typeof header === 'string' ? header : undefined, proofRequest, secrets, clock.now());
    if (state !== 'wrong') await guesses.giveBack(`${userId}`);
    if (state !== 'good') fail('DENIED', { problem: problems[state] });
  };

  const readSchema = async (req: IncomingMessage): Promise<CloudSchema> => {
    const from = clock.monotonic();
    const startedAt = clock.now();
    const holder = await authenticate(req.headers.authorization);
    const { userId, clientId, clientName, grantId, access } = holder;
    const log = (code?: ErrorCode) =>
      store.activity.record({
        userId,
        renderingId: access.caller.renderingId,
        clientId,
        clientName,
        action: 'cloud.schema',
        type: 'read',
        ...outcomeOfCode(code),
        startedAt,
        durationMs: Math.round(clock.monotonic() - from),
      });
    try {
      await calls.consume(`${userId}`);
      const structure = await engine.structure(access);
      await checkSecret(req, userId, holder.token, `${resource}/schema`);
      if (grantId !== undefined) store.connections.noteUse(grantId);
      log();
      return { format: 1, structure };
    } catch (error) {
      if (isAppError(error)) log(error.code);
      throw error;
    }
  };

  const router = createRouter();
  router.use(hostCheck(paths.host, config));
  addRoutes(router, [{ method: 'GET', path: '/schema' }], () => async (req, res) => {
    sendJson(res, 200, await readSchema(req));
  });
  router.use(
    notFound,
    errorReply({
      ...{ observe, readAddress, where: 'cloud', events: { name: 'cloud', codes: loggedCodes } },
      challenge: ({ code }, authorization) =>
        code === 'UNAUTHENTICATED' ? bearerChallenge('cloud', authorization) : undefined,
      send: (_req, res, { status, code, message }) =>
        sendJson(res, status, { error: code.toLowerCase(), message, code }),
    }),
  );
  return router;
}

/** Refusals that are logged as security events, besides refused tokens. */
const loggedCodes: ReadonlySet<ErrorCode> = new Set(['HOST_NOT_ALLOWED', 'RATE_LIMITED', 'DENIED']);
