// What browsers are told of the agent's HTTP API (Fetch, CORS protocol), for pages of the front ends alone.
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

/** Headers of answers that pages may read, beside those that every page may. */
export const exposedHeaders: readonly string[] = [
  'X-Service-Correlation-Id',
  'WWW-Authenticate',
  'Retry-After',
  'Content-Disposition',
];

/**
 * Credentials are allowed since front ends send their requests with them, and a browser would keep the answer from them:
 * no cookie is read here.
 */
export function allowOrigin(res: ServerResponse, origin: string): void {
  res.setHeader('Access-Control-Allow-Origin', origin);
  res.setHeader('Access-Control-Allow-Credentials', 'true');
  res.setHeader('Access-Control-Expose-Headers', exposedHeaders.join(', '));
}

export function answerPreflight(req: IncomingMessage, res: ServerResponse): void {
  const asked = `${req.headers['access-control-request-headers'] ?? ''}`
    .split(',')
    .map((one) => one.trim().toLowerCase());
  res.writeHead(204, {
    'Access-Control-Allow-Methods': methods,
    'Access-Control-Allow-Headers': asked.filter((name) => requestHeaders.includes(name)).join(', '),
    'Access-Control-Max-Age': '86400',
    // Private Network Access: an agent may lie in a network that its front end does not.
    ...(req.headers['access-control-request-private-network'] === 'true' && {
      'Access-Control-Allow-Private-Network': 'true',
    }),
  });
  res.end();
}
