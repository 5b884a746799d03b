// Serves /metrics on a separate port, because it has no access control. By default it listens only on this machine.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Config } from '../core/config.ts';
import { contentType } from '../core/observe/prometheus.ts';
import { isWildcard, listen, refuse, toUrlHost } from './http-server.ts';

interface MetricsServer {
  /** Returns the URL to scrape. Throws CONFIGURATION when it cannot listen. */
  open(): Promise<string>;
  close(): Promise<void>;
}

const PATH = '/metrics';

export function createMetricsServer(
  { metricsHost, metricsPort, requestSeconds }: Pick<Config, 'metricsHost' | 'metricsPort' | 'requestSeconds'>,
  text: () => string,
): MetricsServer {
  const arrival = requestSeconds * 1000;
  const server = createServer({ requestTimeout: arrival, headersTimeout: arrival }, (req, res) => {
    const path = req.url?.split('?', 1)[0] ?? '/';
    if (path !== PATH) return refuse(res, 'NOT_FOUND', { path });
    const { method = '' } = req;
    if (method !== 'GET' && method !== 'HEAD') {
      res.setHeader('Allow', 'GET, HEAD');
      return refuse(res, 'METHOD_NOT_ALLOWED', { method, allow: ['GET', 'HEAD'] });
    }
    const body = text();
    res.writeHead(200, {
      'Content-Type': contentType,
      'Content-Length': Buffer.byteLength(body),
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    });
    res.end(method === 'HEAD' ? undefined : body);
  });
  return {
    async open() {
      await listen(server, {
        port: metricsPort ?? 0,
        host: metricsHost,
        settings: { port: 'SERVICE_METRICS_PORT', host: 'SERVICE_METRICS_HOST' },
      });
      const { port } = server.address() as AddressInfo;
      const host = isWildcard(metricsHost) ? '127.0.0.1' : toUrlHost(metricsHost);
      return `http://${host}:${port}${PATH}`;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
