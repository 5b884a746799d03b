// Reads a request body with limits: size while it arrives, depth before parsing. Depth is counted in one pass over the
// bytes, without recursion over client input.
import { isAscii, isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { fail } from '../core/errors.ts';
import { findInexactNumber } from '../core/filter/exact-numbers.ts';

export interface BodyLimits {
  readonly bytes: number;
  readonly depth: number;
}

/**
 * Throws BODY_TOO_LARGE or MALFORMED_JSON; rejects with the socket error when the client disconnects. Waits for `turn`
 * before parsing.
 */
export async function readJson(
  req: IncomingMessage,
  limits: BodyLimits,
  waitForTurn?: () => Promise<void> | undefined,
): Promise<unknown> {
  // A body parser of the host application may have run already.
  const parsed = (req as { body?: unknown }).body;
  if (parsed !== undefined && req.readableEnded) return checkParsed(parsed, limits);
  const bytes = await readBytes(req, limits.bytes);
  await waitForTurn?.();
  return parseJson(bytes, limits.depth);
}

/**
 * Reads the whole body, also if a body parser of the host application ran first. Throws BODY_TOO_LARGE; the rest of the
 * body stays unread.
 */
export async function readBody(req: IncomingMessage, limitBytes: number): Promise<Buffer> {
  if (req.readableEnded) return restoreBody(req);
  if (exceedsLimit(req, limitBytes)) fail('BODY_TOO_LARGE', { limitBytes });
  return readBytes(req, limitBytes);
}

/** Rebuilds the body from the result of a body parser. */
function restoreBody(req: IncomingMessage): Buffer {
  const { body } = req as { readonly body?: unknown };
  if (Buffer.isBuffer(body)) return body;
  if (typeof body === 'string') return Buffer.from(body);
  if (!isForm(req)) return Buffer.from(JSON.stringify(body) ?? '');
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(body ?? {})) {
    // A parser turns `name[toString]` into an object that cannot be converted to a string. Objects are skipped: without
    // a parser that is just an unknown field name.
    for (const one of [value].flat()) if (typeof one !== 'object') form.append(name, `${one}`);
  }
  return Buffer.from(`${form}`);
}

export function isForm(req: IncomingMessage): boolean {
  return /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(req.headers['content-type'] ?? '');
}

/** Whether Content-Length exceeds the limit, before any byte is read. */
export function exceedsLimit(req: IncomingMessage, limitBytes: number): boolean {
  return Number(req.headers['content-length'] ?? 0) > limitBytes;
}

/** Throws BODY_TOO_LARGE; rejects with the socket error when the client disconnects. */
function readBytes(req: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let isComplete = false;
    // Listeners are not removed: they end with the request, and removal would cost as much as reading.
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limitBytes) {
        req.off('data', onData).pause();
        try {
          fail('BODY_TOO_LARGE', { limitBytes });
        } catch (error) {
          reject(error);
        }
        return;
      }
      chunks.push(chunk);
    };
    const onEnd = () => {
      isComplete = true;
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    };
    const onClose = () => {
      if (!isComplete) reject(new Error('the client disconnected before its request was complete'));
    };
    req.on('data', onData).on('end', onEnd).on('error', reject).on('close', onClose);
  });
}

/** Throws MALFORMED_JSON for a body that is not UTF-8, not JSON, or nested deeper than `depthLimit`. */
export function parseJson(bytes: Buffer, depthLimit: number): unknown {
  if (bytes.length === 0) fail('MALFORMED_JSON', { problem: 'it is empty.' });
  const isPlain = isAscii(bytes);
  if (!isPlain && !isUtf8(bytes)) fail('MALFORMED_JSON', { problem: 'it is not UTF-8.' });
  checkDepth(bytes, depthLimit);
  requireExactNumbers(bytes);
  try {
    return JSON.parse(bytes.toString(isPlain ? 'latin1' : 'utf8'));
  } catch (cause) {
    // The parser message quotes client input, so it is not returned.
    fail('MALFORMED_JSON', { problem: 'it does not parse.' }, cause);
  }
}

/** Throws MALFORMED_JSON for a number that parsing would change. */
function requireExactNumbers(json: Uint8Array): void {
  const problem = findInexactNumber(json);
  if (problem !== undefined) fail('MALFORMED_JSON', { problem });
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function checkDepth(bytes: Buffer, depthLimit: number): void {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (inString) {
      if (byte === BACKSLASH) i++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    // '{' and '[' differ in one bit, and so do '}' and ']'.
    else if ((byte & 0xdf) === 0x5b) {
      if (++depth > depthLimit) fail('MALFORMED_JSON', { problem: `it is nested deeper than ${depthLimit} levels.` });
    } else if ((byte & 0xdf) === 0x5d) depth--;
  }
}

function checkParsed(value: unknown, limits: BodyLimits): unknown {
  let text: string;
  try {
    text = JSON.stringify(value) ?? '';
  } catch (cause) {
    fail('MALFORMED_JSON', { problem: `it is nested deeper than ${limits.depth} levels.` }, cause);
  }
  checkDepth(Buffer.from(text), limits.depth);
  return value;
}
