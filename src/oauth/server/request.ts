// Composes the request that the provider receives. It carries our public host instead of the Host header, and the
// client address from the HTTP handler. The body was read within a size limit, and each spelling of our resource is
// normalized. The provider writes to the real response.
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { fail } from '../../core/errors.ts';
import { canonicalResource, type Located, type Paths } from './paths.ts';

/** Requests to these endpoints are small. The provider has the same limit. */
const MAX_BODY_BYTES = 56 * 1024;

const addressByRequest = new WeakMap<object, string>();
const originalByRequest = new WeakMap<object, IncomingMessage>();

/** Client address of a composed request. */
export function addressOf(req: object): string {
  return addressByRequest.get(req) ?? '';
}

/** The original request behind a composed one, as the host application knows it. */
export function originalOf(req: IncomingMessage): IncomingMessage {
  return originalByRequest.get(req) ?? req;
}

export interface ComposedRequestParts {
  readonly located: Located;
  readonly paths: Paths;
  readonly address: string;
  readonly query: string;
  readonly body?: Buffer | undefined;
  /** Accept header. Endpoints for programs always return JSON. */
  readonly accept: string;
}

export function composeRequest(req: IncomingMessage, from: ComposedRequestParts): IncomingMessage {
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
  addressByRequest.set(composed, from.address);
  originalByRequest.set(composed, req);
  return composed as unknown as IncomingMessage;
}

/**
 * Reads the body, even if the host application has already parsed it. Throws BODY_TOO_LARGE above the limit; the rest
 * of the body stays unread, and the caller closes the connection.
 */
export async function readBody(req: IncomingMessage, limitBytes: number = MAX_BODY_BYTES): Promise<Buffer> {
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

/** Rebuilds the body from the result of the host application's body parser. */
function rewriteBody(req: IncomingMessage): Buffer {
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

/** Replaces each spelling of our resource with its identifier. Duplicates count once (RFC 8707 section 2). */
export function canonicaliseResources(parameters: URLSearchParams, resource: string): URLSearchParams {
  const values = parameters.getAll('resource');
  if (values.length === 0) return parameters;
  parameters.delete('resource');
  for (const resourceValue of new Set(values.map((value) => canonicalResource(value, resource)))) {
    parameters.append('resource', resourceValue);
  }
  return parameters;
}
