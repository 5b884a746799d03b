// PUT /mcp/uploads/<key> and GET /mcp/downloads/<key>. Host and Origin are checked as for /mcp. The key in the URL is
// the only credential (files.ts), which lets a shell command without a token send and fetch files.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import { fail } from '../../core/errors.ts';
import { reportFailure } from '../../core/observe/failures.ts';
import type { Observe } from '../../core/observe.ts';
import { announcesTooMuch } from '../../http/body.ts';
import { attachmentNamed } from '../../http/reply.ts';
import type { Gate } from '../../oauth/tokens/bearer.ts';
import type { ActivityLog } from '../../store/audit/activity-types.ts';
import { allowOrigin, answerPreflight, createAdmission } from '../transport/admission.ts';
import { answerError } from '../transport/refusal.ts';
import type { Files } from './files.ts';

export interface FileFrontParts {
  readonly config: Config;
  readonly files: Files;
  readonly gate: Gate;
  readonly observe: Observe;
  readonly clock: Clock;
  readonly activity: Pick<ActivityLog, 'record'>;
  readonly renderingOf: (userId: number) => Promise<number>;
}

export interface FileFront {
  /** Answers any request below the file URLs, whatever its method. */
  handle(req: IncomingMessage, res: ServerResponse): void;
}

const methods = { uploads: ['PUT', 'OPTIONS'], downloads: ['GET', 'HEAD', 'OPTIONS'] } as const;

export function createFileFront(parts: FileFrontParts): FileFront {
  const { config, files, gate, observe, clock, activity, renderingOf } = parts;
  const admission = createAdmission(config);
  const limitBytes = config.fileLimitBytes;

  const serve = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    // DNS rebinding, as for /mcp (MCP 2025-11-25, transports, security).
    if (!admission.allowsHost(req.headers.host)) fail('HOST_NOT_ALLOWED', {});
    const { origin } = req.headers;
    if (origin !== undefined) {
      if (!admission.allowsOrigin(origin)) fail('ORIGIN_NOT_ALLOWED', {});
      allowOrigin(res, origin);
    }
    const path = (req.url ?? '').split('?', 1)[0]!;
    const [, kind, key = ''] = /\/(uploads|downloads)\/([\w-]{43})$/.exec(path) ?? [];
    if (kind !== 'uploads' && kind !== 'downloads') return fail('NOT_FOUND', { path: 'this address' });
    const allowed: readonly string[] = methods[kind];
    if (req.method === 'OPTIONS') return answerPreflight(req, res, allowed);
    if (!allowed.includes(req.method ?? ''))
      fail('METHOD_NOT_ALLOWED', { method: req.method ?? '', allow: allowed.slice(0, -1) });
    await (kind === 'uploads' ? receive(req, res, key) : send(req, res, key));
  };

  const receive = async (req: IncomingMessage, res: ServerResponse, key: string): Promise<void> => {
    if (announcesTooMuch(req, limitBytes)) fail('BODY_TOO_LARGE', { limitBytes });
    checkType(req, (await files.announced(key)).mimeType);
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
      'content-disposition': attachmentNamed(name),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      // A browser that opens the file anyway must not run scripts from it with this server's origin.
      'content-security-policy': "sandbox; default-src 'none'",
      'referrer-policy': 'no-referrer',
    });
    if (req.method === 'HEAD') res.end();
    else await pipeline(content(), res);
  };

  return {
    handle(req, res) {
      serve(req, res).catch((error: unknown) => {
        // The client has disconnected.
        if (res.destroyed || req.errored) return;
        const shown = reportFailure(observe, 'mcp files', error);
        const body = { error: shown.code.toLowerCase(), error_description: shown.message };
        answerError({ gate, observe, clock, limitBytes }, req, res, shown, body);
      });
    },
  };
}

/** Accepts the announced type, octet-stream or no type. */
function checkType(req: IncomingMessage, announced: string): void {
  const given = /^\s*([^;\s]+)/.exec(req.headers['content-type'] ?? '')?.[1]?.toLowerCase();
  if (given === undefined || given === announced || given === 'application/octet-stream') return;
  fail('INVALID_ARGUMENT', { argument: 'Content-Type', problem: `${announced} was announced; send that.` });
}
