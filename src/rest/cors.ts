// CORS headers of the agent's HTTP API (Fetch, CORS protocol). They apply only to the configured origins.
import type { IncomingMessage, ServerResponse } from 'node:http';

const methods = 'GET, POST, PUT, PATCH, DELETE';
const requestHeaders = [
  'authorization',
  'content-type',
  'accept',
  'service-context-url',
  'service-projection',
  'traceparent',
];

/** Response headers that scripts may read, besides those that CORS always allows. */
export const exposedHeaders: readonly string[] = [
  'X-Service-Correlation-Id',
  'WWW-Authenticate',
  'Retry-After',
  'Content-Disposition',
];

/**
 * Clients send requests with credentials, and browsers block the response unless credentials are allowed. The API reads
 * no cookies.
 */
export function allowOrigin(res: ServerResponse, origin: string): void {
  res.setHeader('Access-Control-Allow-Origin', origin);
  res.setHeader('Access-Control-Allow-Credentials', 'true');
  res.setHeader('Access-Control-Expose-Headers', exposedHeaders.join(', '));
}

export function answerPreflight(req: IncomingMessage, res: ServerResponse): void {
  const requested = `${req.headers['access-control-request-headers'] ?? ''}`
    .split(',')
    .map((one) => one.trim().toLowerCase());
  res.writeHead(204, {
    'Access-Control-Allow-Methods': methods,
    'Access-Control-Allow-Headers': requested.filter((name) => requestHeaders.includes(name)).join(', '),
    'Access-Control-Max-Age': '86400',
    // Private Network Access: the agent can be on a private network that the page's origin is not part of.
    ...(req.headers['access-control-request-private-network'] === 'true' && {
      'Access-Control-Allow-Private-Network': 'true',
    }),
  });
  res.end();
}
