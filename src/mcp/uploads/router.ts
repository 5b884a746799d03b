// PUT /mcp/uploads/<key> and GET /mcp/downloads/<key>. Host and Origin are checked as for /mcp. The key in the URL is
// the only credential (files.ts), which lets a shell command without a token send and fetch files.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { ErrorRequestHandler, RequestHandler, Router } from 'express';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import { AppError, fail } from '../../core/errors.ts';
import { reportFailure } from '../../core/observe/failures.ts';
import type { Observe } from '../../core/observe.ts';
import { exceedsLimit } from '../../http/body.ts';
import { answerPreflight, applyCors, type CorsPolicy } from '../../http/cors.ts';
import { attachmentHeader } from '../../http/reply.ts';
import { addRoutes, createRouter } from '../../http/router.ts';
import type { TokenAuthenticator } from '../../oauth/tokens/bearer.ts';
import type { ActivityLog } from '../../store/audit/activity-types.ts';
import { createAdmission } from '../transport/admission.ts';
import { sendError } from '../transport/refusal.ts';
import type { Files } from './files.ts';

export interface FileRouterParts {
  readonly config: Config;
  readonly files: Files;
  readonly authenticator: TokenAuthenticator;
  readonly observe: Observe;
  readonly clock: Clock;
  readonly activity: Pick<ActivityLog, 'record'>;
  readonly renderingOf: (userId: number) => Promise<number>;
}

/** Mount it at `/mcp`. */
export function createFileRouter(parts: FileRouterParts): Router {
  const { config, files, authenticator, observe, clock, activity, renderingOf } = parts;
  const admission = createAdmission(config);
  const limitBytes = config.fileLimitBytes;

  const receive = async (req: IncomingMessage, res: ServerResponse, key: string): Promise<void> => {
    if (exceedsLimit(req, limitBytes)) fail('BODY_TOO_LARGE', { limitBytes });
    checkType(req, (await files.metadataOf(key)).mimeType);
    // A body parser of the host application has already consumed the bytes.
    if (req.readableEnded)
      fail('INVALID_ARGUMENT', { argument: 'Content-Type', problem: 'send the file as application/octet-stream.' });
    const { bytes } = await files.receive(key, req);
    const text = JSON.stringify({ bytes });
    res.writeHead(201, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    res.end(text);
  };

  const send = async (req: IncomingMessage, res: ServerResponse, key: string): Promise<void> => {
    const startedAt = clock.now();
    const { name, mimeType, bytes, content, userId, collection } = await files.open(key);
    if (req.method !== 'HEAD')
      activity.record({
        // Any holder of the URL can fetch it; the log names the user who received it.
        ...{ userId, renderingId: await renderingOf(userId), clientId: 'file-address', clientName: 'File address' },
        ...{ action: 'openFile', type: 'read', ...(collection !== undefined && { collection }) },
        ...{ outcome: 'completed', startedAt, durationMs: 0 },
      });
    res.writeHead(200, {
      'content-type': mimeType,
      'content-length': bytes,
      'content-disposition': attachmentHeader(name),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      // A browser that opens the file anyway must not run scripts from it with this server's origin.
      'content-security-policy': "sandbox; default-src 'none'",
      'referrer-policy': 'no-referrer',
    });
    if (req.method === 'HEAD') res.end();
    else await pipeline(content(), res);
  };

  const router = createRouter();
  // DNS rebinding, as for /mcp (MCP 2025-11-25, transports, security).
  router.use((req, _res, next) =>
    next(admission.allowsHost(req.headers.host) ? undefined : new AppError('HOST_NOT_ALLOWED', {})),
  );
  router.use((req, res, next) => next(applyCors(req, res, admission.cors)));
  router.param('key', (_req, _res, next, key: string) => next(/^[\w-]{43}$/.test(key) ? undefined : 'route'));
  router.options('/uploads/:key', preflight(admission.cors, ['PUT', 'OPTIONS']));
  router.options('/downloads/:key', preflight(admission.cors, ['GET', 'HEAD', 'OPTIONS']));
  const routes = [
    { method: 'PUT', path: '/uploads/:key', run: receive },
    { method: 'GET', path: '/downloads/:key', run: send },
  ] as const;
  addRoutes(
    router,
    routes,
    ({ run }) =>
      (req, res) =>
        run(req, res, req.params.key as string),
  );
  // The path may hold a key, so no answer and no log repeats it.
  router.use((_req, _res, next) => next(new AppError('NOT_FOUND', { path: 'this address' })));
  router.use(((error, req, res, _next) => {
    // The client has disconnected.
    if (res.destroyed || req.errored) return;
    const reported = reportFailure(observe, 'mcp files', error);
    const body = { error: reported.code.toLowerCase(), error_description: reported.message };
    sendError({ authenticator, observe, clock, limitBytes }, req, res, reported, body);
  }) satisfies ErrorRequestHandler);
  return router;
}

const preflight =
  (policy: CorsPolicy, methods: readonly string[]): RequestHandler =>
  (req, res) => {
    res.setHeader('Allow', methods.join(', '));
    answerPreflight(req, res, policy, methods);
  };

/** Accepts the announced type, octet-stream or no type. */
function checkType(req: IncomingMessage, announced: string): void {
  const contentType = /^\s*([^;\s]+)/.exec(req.headers['content-type'] ?? '')?.[1]?.toLowerCase();
  if (contentType === undefined || contentType === announced || contentType === 'application/octet-stream') return;
  fail('INVALID_ARGUMENT', { argument: 'Content-Type', problem: `expected ${announced}, the announced type.` });
}
