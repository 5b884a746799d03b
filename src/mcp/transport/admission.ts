// Decides which Host and Origin may reach /mcp (DNS rebinding), and sends the CORS headers for browsers.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Config } from '../../core/config.ts';
import { createHostCheck } from '../../http/address.ts';

const loopback = ['localhost', '127.0.0.1', '[::1]'];

const requestHeaders = [
  'authorization',
  'dpop',
  'content-type',
  'accept',
  'last-event-id',
  'traceparent',
  'tracestate',
  'baggage',
];

export interface OriginPolicy {
  allowsHost(host: string | undefined): boolean;
  allowsOrigin(origin: string): boolean;
}

/**
 * Hosts are compared without their port. Origins are compared exactly, except that a local server accepts every
 * loopback origin.
 */
export function createOriginPolicy(
  config: Pick<Config, 'publicUrl' | 'host' | 'allowedHosts' | 'allowedOrigins'>,
): OriginPolicy {
  const publicUrl = config.publicUrl ? new URL(config.publicUrl) : undefined;
  const origins = new Set(config.allowedOrigins.map((origin) => origin.toLowerCase().replace(/\/$/, '')));
  if (publicUrl) origins.add(publicUrl.origin);
  const isLocal = !publicUrl || loopback.includes(publicUrl.hostname);
  return {
    allowsHost: createHostCheck(publicUrl?.hostname, config),
    allowsOrigin(origin) {
      if (origins.has(origin.toLowerCase())) return true;
      if (!isLocal || !URL.canParse(origin)) return false;
      const url = new URL(origin);
      return (url.protocol === 'http:' || url.protocol === 'https:') && loopback.includes(url.hostname);
    },
  };
}

/**
 * Never a wildcard and never with credentials: the bearer token is the only authority, and the page must send it
 * itself.
 */
export function allowOrigin(res: ServerResponse, origin: string): void {
  res.setHeader('Access-Control-Allow-Origin', origin);
  res.setHeader('Access-Control-Expose-Headers', 'WWW-Authenticate, Mcp-Session-Id, Retry-After');
  res.setHeader('Vary', 'Origin');
}

/** Answers a CORS preflight. `allow`: the methods of requests without a session. Default: `methods`. */
export function answerPreflight(
  req: IncomingMessage,
  res: ServerResponse,
  methods: readonly string[],
  allow = methods,
): void {
  const requested = String(req.headers['access-control-request-headers'] ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => requestHeaders.includes(name) || /^mcp-[a-z0-9-]+$/.test(name));
  res.writeHead(204, {
    Allow: allow.join(', '),
    'Access-Control-Allow-Methods': methods.join(', '),
    'Access-Control-Allow-Headers': requested.join(', '),
    'Access-Control-Max-Age': '600',
  });
  res.end();
}
