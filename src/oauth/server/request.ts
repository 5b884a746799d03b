// Composes the request that the provider receives. It carries our public host instead of the Host header, and the
// client address from the HTTP handler. The body was read within a size limit, and each spelling of our resource is
// normalized. The provider writes to the real response.
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { canonicalResource, type Paths } from './paths.ts';

const addressByRequest = new WeakMap<object, string>();
const originalByRequest = new WeakMap<object, IncomingMessage>();

/** Client address of a composed request. */
export function addressOf(req: object): string {
  return addressByRequest.get(req) ?? '';
}

/** The original request behind a composed one. */
export function originalOf(req: IncomingMessage): IncomingMessage {
  return originalByRequest.get(req) ?? req;
}

interface ComposedRequestParts {
  /** Path without any prefix, such as `/oauth/token`, which the provider knows. */
  readonly path: string;
  readonly paths: Paths;
  readonly address: string;
  readonly query: string;
  readonly body?: Buffer | undefined;
  /** Accept header. Endpoints for programs always return JSON. */
  readonly accept: string;
}

export function composeRequest(req: IncomingMessage, from: ComposedRequestParts): IncomingMessage {
  const { paths, body } = from;
  const url = from.path + (from.query ? `?${from.query}` : '');
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
