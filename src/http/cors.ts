// CORS headers (Fetch, CORS protocol). Each API states its policy. Pages and the public API have none, so browsers keep
// scripts of other sites from reading them.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import { AppError } from '../core/errors.ts';

export interface CorsPolicy {
  /** `*`: scripts of every origin, which browsers then send without credentials. A function: whether it is allowed. */
  readonly origins: '*' | ((origin: string) => boolean);
  /** The setting that allows an origin, for the error of others. Default SERVICE_ALLOWED_ORIGINS. */
  readonly setting?: string;
  /** Whether responses to requests with credentials are readable. Default false. */
  readonly credentials?: true;
  /** Whether a page of the public internet may reach a server in a private network. Default false. */
  readonly privateNetwork?: true;
  /** Response headers that scripts may read, besides those that CORS always allows. */
  readonly exposed: readonly string[];
  /** Request headers that scripts may send. A function gets the requested ones, in lower case. */
  readonly headers: readonly string[] | ((name: string) => boolean);
  /** How long browsers may remember a preflight. */
  readonly maxAgeSeconds: number;
}

/** Sets the headers and answers preflights. Fails with ORIGIN_NOT_ALLOWED for an origin that is not allowed. */
export function cors(policy: CorsPolicy, methods: readonly string[]): RequestHandler {
  return (req, res, next) => {
    const refusal = applyCors(req, res, policy);
    if (refusal || req.method !== 'OPTIONS') next(refusal);
    else answerPreflight(req, res, policy, methods);
  };
}

/** Sets the headers of a response. Returns an error for an origin that is not allowed. */
export function applyCors(req: IncomingMessage, res: ServerResponse, policy: CorsPolicy): AppError | undefined {
  const { origins, setting, credentials, exposed } = policy;
  const origin = origins === '*' ? '*' : req.headers.origin;
  if (origin === undefined) return undefined;
  if (origins !== '*') {
    res.setHeader('Vary', 'Origin');
    if (!origins(origin)) return new AppError('ORIGIN_NOT_ALLOWED', setting === undefined ? {} : { setting });
  }
  res.setHeader('Access-Control-Allow-Origin', origin);
  res.setHeader('Access-Control-Expose-Headers', exposed.join(', '));
  if (credentials) res.setHeader('Access-Control-Allow-Credentials', 'true');
  return undefined;
}

export function answerPreflight(
  { headers }: IncomingMessage,
  res: ServerResponse,
  policy: CorsPolicy,
  methods: readonly string[],
): void {
  const requested = `${headers['access-control-request-headers'] ?? ''}`.split(',').map((name) => name.trim());
  const allowed =
    typeof policy.headers === 'function'
      ? requested.map((name) => name.toLowerCase()).filter(policy.headers)
      : policy.headers;
  res.writeHead(204, {
    'Access-Control-Allow-Methods': methods.join(', '),
    'Access-Control-Allow-Headers': allowed.join(', '),
    'Access-Control-Max-Age': `${policy.maxAgeSeconds}`,
    ...(policy.privateNetwork &&
      headers['access-control-request-private-network'] === 'true' && {
        'Access-Control-Allow-Private-Network': 'true',
      }),
  });
  res.end();
}
