// The CORS policy of the agent's HTTP API: only the configured front ends.
import type { Config } from '../core/config.ts';
import type { CorsPolicy } from '../http/cors.ts';
import type { RestPaths } from './paths.ts';

export const methods: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

const requestHeaders = new Set([
  'authorization',
  'content-type',
  'accept',
  'service-context-url',
  'service-projection',
  'traceparent',
]);

/** Response headers that scripts may read, besides those that CORS always allows. */
export const exposedHeaders: readonly string[] = [
  'X-Service-Correlation-Id',
  'WWW-Authenticate',
  'Retry-After',
  'Content-Disposition',
];

export function corsPolicy({ origin }: RestPaths, { agentOrigins }: Pick<Config, 'agentOrigins'>): CorsPolicy {
  const origins = new Set([origin, ...agentOrigins]);
  return {
    origins: (one) => origins.has(one),
    setting: 'SERVICE_AGENT_ORIGINS',
    // Front ends send requests with credentials, and browsers block the response unless credentials are allowed. The
    // API reads no cookies.
    credentials: true,
    privateNetwork: true,
    exposed: exposedHeaders,
    headers: (name) => requestHeaders.has(name),
    maxAgeSeconds: 86_400,
  };
}
