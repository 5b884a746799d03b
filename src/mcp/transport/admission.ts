// Decides which Host and Origin may reach /mcp (DNS rebinding), and which headers scripts may send and read.
import type { Config } from '../../core/config.ts';
import type { CorsPolicy } from '../../http/cors.ts';
import { createHostCheck } from '../../http/host-check.ts';

const loopback = ['localhost', '127.0.0.1', '[::1]'];

const requestHeaders = new Set([
  'authorization',
  'dpop',
  'content-type',
  'accept',
  'last-event-id',
  'traceparent',
  'tracestate',
  'baggage',
]);

interface Admission {
  allowsHost(host: string | undefined): boolean;
  /**
   * Never a wildcard and never with credentials: the bearer token is the only authority, and the page must send it
   * itself.
   */
  readonly cors: CorsPolicy;
}

/**
 * Hosts are compared without their port. Origins are compared exactly, except that a local server accepts every
 * loopback origin.
 */
export function createAdmission(
  config: Pick<Config, 'publicUrl' | 'host' | 'allowedHosts' | 'allowedOrigins'>,
): Admission {
  const publicUrl = config.publicUrl ? new URL(config.publicUrl) : undefined;
  const origins = new Set(config.allowedOrigins.map((origin) => origin.toLowerCase().replace(/\/$/, '')));
  if (publicUrl) origins.add(publicUrl.origin);
  const isLocal = !publicUrl || loopback.includes(publicUrl.hostname);
  return {
    allowsHost: createHostCheck(publicUrl?.hostname, config),
    cors: {
      origins(origin) {
        if (origins.has(origin.toLowerCase())) return true;
        if (!isLocal || !URL.canParse(origin)) return false;
        const url = new URL(origin);
        return (url.protocol === 'http:' || url.protocol === 'https:') && loopback.includes(url.hostname);
      },
      exposed: ['WWW-Authenticate', 'Mcp-Session-Id', 'Retry-After'],
      headers: (name) => requestHeaders.has(name) || /^mcp-[a-z0-9-]+$/.test(name),
      maxAgeSeconds: 600,
    },
  };
}
