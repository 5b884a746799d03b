import type { Config } from '../config.ts';

/**
 * Whether passwords and tokens may cross a network unencrypted: the host is not loopback and the public URL is not
 * https.
 */
export function isUnprotected({ host, publicUrl }: Pick<Config, 'host' | 'publicUrl'>): boolean {
  return !isLoopback(host) && !publicUrl?.startsWith('https:');
}

export function unprotectedWarning({ host }: Pick<Config, 'host'>): string {
  return (
    `Listening on ${host} without a public https address: passwords and tokens would cross the network unencrypted. ` +
    'Set SERVICE_PUBLIC_URL to the https address of the proxy in front, or SERVICE_HOST=127.0.0.1.'
  );
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
