// How every door of ours writes an answer that is no page.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

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
 * The value of Content-Disposition for a file (RFC 6266 section 4.3 and RFC 8187): the name for all, and in UTF-8. Nothing of it
 * can end the header or the quotes.
 */
export function attachmentNamed(name: string): string {
  const plain = name.replace(/[^\w.() -]/g, '_');
  const encoded = encodeURIComponent(name.replace(/\p{Cs}/gu, '_')).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

/**
 * Sends the parts as they come; the first is waited for before the status is sent, so that it can fail. HEAD is answered without
 * them: how long they would be is not known. Rejects when a later part fails: the connection is cut, so that nothing looks whole
 * that is not.
 */
export async function sendStream(
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  parts: AsyncIterable<string | Uint8Array>,
): Promise<void> {
  if (req.method === 'HEAD') {
    res.writeHead(status).end();
    return;
  }
  const iterator = parts[Symbol.asyncIterator]();
  const first = await iterator.next();
  res.writeHead(status);
  const rest = async function* () {
    if (first.done) return;
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => iterator };
  };
  try {
    await pipeline(Readable.from(rest(), { objectMode: false }), res);
  } catch (error) {
    // The client has gone away: nobody is left to be told.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}
