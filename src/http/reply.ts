// Writes responses other than pages, for every endpoint.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { systemClock } from '../core/clock.ts';

export function sendJson(res: ServerResponse, status: number, body: object): void {
  sendJsonText(res, status, JSON.stringify(body));
}

export function sendJsonText(res: ServerResponse, status: number, text: string): void {
  res.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  res.end(text);
}

/**
 * The value of Content-Disposition for a file (RFC 6266 section 4.3 and RFC 8187), with an ASCII name and a UTF-8 name.
 * No character of the name can end the header or the quotes.
 */
export function attachmentHeader(name: string): string {
  const plain = name.replace(/[^\w.() -]/g, '_');
  const encoded = encodeURIComponent(name.replace(/\p{Cs}/gu, '_')).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

/** How long a client may stop reading, and how long a whole response may take. */
const MAX_PART_MS = 60_000;
const MAX_RESPONSE_MS = 3_600_000;

/**
 * Streams the parts. It waits for the first part before it writes the status, so an error can still change the
 * response. HEAD gets no parts and no length. If a later part fails, it cuts the connection and rejects, because the
 * response must not look complete. `stands` runs before each later part and rejects once the caller has lost access.
 */
export async function sendStream(
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  parts: AsyncIterable<string | Uint8Array>,
  recheckAccess?: () => Promise<unknown>,
): Promise<void> {
  if (req.method === 'HEAD') {
    res.writeHead(status).end();
    return;
  }
  const iterator = parts[Symbol.asyncIterator]();
  const first = await iterator.next();
  res.writeHead(status);
  const rest = async function* () {
    const until = systemClock.monotonic() + MAX_RESPONSE_MS;
    try {
      for (let part = first; !part.done; part = await iterator.next()) {
        const cancelTimer = systemClock.after(MAX_PART_MS, () => res.destroy());
        try {
          yield part.value;
        } finally {
          cancelTimer();
        }
        if (systemClock.monotonic() > until) throw new Error('a streamed response took longer than an hour');
        await recheckAccess?.();
      }
    } finally {
      await iterator.return?.();
    }
  };
  try {
    await pipeline(Readable.from(rest(), { objectMode: false }), res);
  } catch (error) {
    // The client has disconnected.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}
