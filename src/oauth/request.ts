// The request as the provider gets it: composed here, with our public address where it would believe a Host header, the
// client's address as the front read it, and a body that was read within a limit and in which every spelling of our
// resource is the same. The provider answers on the real response.
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { fail } from '../core/errors.ts';
import { canonicalResource, type Located, type Paths } from './paths.ts';

/** What the endpoints take is small; the provider's own limit is the same. */
const bodyLimitBytes = 56 * 1024;

const addresses = new WeakMap<object, string>();
const originals = new WeakMap<object, IncomingMessage>();

/** The client's address of a composed request. */
export function addressOf(req: object): string {
  return addresses.get(req) ?? '';
}

/** The request that one was composed of, as the host application knows it. */
export function originalOf(req: IncomingMessage): IncomingMessage {
  return originals.get(req) ?? req;
}

export interface Composed {
  readonly located: Located;
  readonly paths: Paths;
  readonly address: string;
  readonly query: string;
  readonly body?: Buffer | undefined;
  /** What the client accepts; endpoints for programs answer in JSON whoever asks. */
  readonly accept: string;
}

export function composeRequest(req: IncomingMessage, from: Composed): IncomingMessage {
  const { located, paths, body } = from;
  const url = located.inner + (from.query ? `?${from.query}` : '');
  const {
    'x-forwarded-host': _host,
    'x-forwarded-port': _port,
    forwarded: _forwarded,
    'transfer-encoding': _encoding,
    'content-length': _length,
    expect: _expect,
    ...headers
  } = req.headers;
  const composed = Object.assign(Readable.from(body ? [body] : [], { objectMode: false }), {
    method: req.method,
    url,
    originalUrl: paths.prefix + url,
    httpVersion: req.httpVersion,
    httpVersionMajor: req.httpVersionMajor,
    httpVersionMinor: req.httpVersionMinor,
    socket: req.socket,
    connection: req.socket,
    headers: {
      ...headers,
      host: paths.host,
      accept: from.accept,
      'x-forwarded-proto': paths.secure ? 'https' : 'http',
      'x-forwarded-for': from.address,
      ...(body ? { 'content-length': `${body.length}` } : {}),
    },
  });
  addresses.set(composed, from.address);
  originals.set(composed, req);
  return composed as unknown as IncomingMessage;
}

/** The body, also where the host application has read it already. BODY_TOO_LARGE over the limit: the rest of such a
 * body is left unread, and the caller closes the connection. */
export async function readBody(req: IncomingMessage, limitBytes: number = bodyLimitBytes): Promise<Buffer> {
  if (req.readableEnded) return rewriteBody(req);
  const chunks: Buffer[] = [];
  let length = 0;
  if (Number(req.headers['content-length'] ?? 0) > limitBytes) {
    fail('BODY_TOO_LARGE', { limitBytes });
  }
  for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limitBytes) fail('BODY_TOO_LARGE', { limitBytes });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

/** The body again, of what a parser of the host application made of it before us. */
function rewriteBody(req: IncomingMessage): Buffer {
  const { body } = req as { readonly body?: unknown };
  if (Buffer.isBuffer(body)) return body;
  if (typeof body === 'string') return Buffer.from(body);
  if (!isForm(req)) return Buffer.from(JSON.stringify(body) ?? '');
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(body ?? {})) {
    for (const one of [value].flat()) form.append(name, `${one}`);
  }
  return Buffer.from(`${form}`);
}

export function isForm(req: IncomingMessage): boolean {
  return /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(req.headers['content-type'] ?? '');
}

/** Makes every spelling of our resource the identifier of it; the same one sent twice counts once (RFC 8707 section 2). */
export function canonicaliseResources(parameters: URLSearchParams, resource: string): URLSearchParams {
  const sent = parameters.getAll('resource');
  if (sent.length === 0) return parameters;
  parameters.delete('resource');
  for (const one of new Set(sent.map((value) => canonicalResource(value, resource)))) {
    parameters.append('resource', one);
  }
  return parameters;
}
