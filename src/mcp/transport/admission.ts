// Which Host and Origin may reach /mcp (DNS rebinding), and what a browser is told about it (CORS).
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Config } from '../../core/config.ts';

const loopback = ['localhost', '127.0.0.1', '[::1]'];
const wildcards = new Set(['0.0.0.0', '::', '[::]', '*']);

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

export interface Admission {
  allowsHost(host: string | undefined): boolean;
  allowsOrigin(origin: string): boolean;
}

/** Hosts are compared without their port; Origins whole, but for loopback ones where the server itself is local. */
export function createAdmission(
  config: Pick<Config, 'publicUrl' | 'host' | 'allowedHosts' | 'allowedOrigins'>,
): Admission {
  const publicUrl = config.publicUrl ? new URL(config.publicUrl) : undefined;
  const hosts = new Set(loopback);
  if (publicUrl) hosts.add(publicUrl.hostname);
  if (!wildcards.has(config.host)) hosts.add(hostname(bracketed(config.host)) ?? config.host);
  for (const host of config.allowedHosts) hosts.add(hostname(bracketed(host)) ?? host.toLowerCase());
  const origins = new Set(config.allowedOrigins.map((origin) => origin.toLowerCase().replace(/\/$/, '')));
  if (publicUrl) origins.add(publicUrl.origin);
  const local = !publicUrl || loopback.includes(publicUrl.hostname);
  // Nearly all requests name the same few: remembering the spelling saves parsing a URL for each.
  const known = new Set<string>();
  return {
    allowsHost(host) {
      if (host === undefined) return false;
      if (known.has(host)) return true;
      const name = hostname(host);
      if (name === undefined || !hosts.has(name)) return false;
      if (known.size < 100) known.add(host);
      return true;
    },
    allowsOrigin(origin) {
      if (origins.has(origin.toLowerCase())) return true;
      if (!local || !URL.canParse(origin)) return false;
      const url = new URL(origin);
      return (url.protocol === 'http:' || url.protocol === 'https:') && loopback.includes(url.hostname);
    },
  };
}

function hostname(host: string): string | undefined {
  const text = `http://${host}`;
  if (/[/\\?#@\s]/.test(host) || !URL.canParse(text)) return undefined;
  return new URL(text).hostname;
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') && host.split(':').length > 2 ? `[${host}]` : host;
}

/** Never a wildcard and never with credentials: the bearer token is the only authority, and the page must hold it itself. */
export function allowOrigin(res: ServerResponse, origin: string): void {
  res.setHeader('Access-Control-Allow-Origin', origin);
  res.setHeader('Access-Control-Expose-Headers', 'WWW-Authenticate, Mcp-Session-Id, Retry-After');
  res.setHeader('Vary', 'Origin');
}

export function answerPreflight(req: IncomingMessage, res: ServerResponse, methods: readonly string[]): void {
  const asked = String(req.headers['access-control-request-headers'] ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => requestHeaders.includes(name) || /^mcp-[a-z0-9-]+$/.test(name));
  res.writeHead(204, {
    Allow: methods.join(', '),
    'Access-Control-Allow-Methods': methods.join(', '),
    'Access-Control-Allow-Headers': asked.join(', '),
    'Access-Control-Max-Age': '600',
  });
  res.end();
}
