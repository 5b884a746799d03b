// The internet around an attacked server (network.mjs): public names with published documents, and private addresses
// that count every connection.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../src/core/clock.ts';
import type { Around, Place } from '../attack.ts';
import type { Target } from '../target.ts';
import { openInside, web } from './web.ts';

type Answer = (req: IncomingMessage, res: ServerResponse) => void;

export interface Outside {
  /** Answers at `https://<name>` for every path. */
  serve(name: string, answer: Answer | object): void;
  /** Requested names, oldest first. */
  readonly asked: readonly string[];
  /** Connections to public addresses. */
  connections(): number;
  /** Connections to addresses that are not public. */
  inside(): number;
}

const outsides = new WeakMap<Target, Outside>();
export const outsideOf = (target: Target): Outside => outsides.get(target)!;

/** For every name under `.example`. The process trusts it. */
function makeCertificate(folder: string) {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const names = 'subjectAltName=DNS:*.sites.example,DNS:*.names.example,IP:93.184.215.14';
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const about = ['-subj', '/CN=outside', '-addext', names, '-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', ...kind, ...about], { stdio: 'ignore' });
  return { file: cert, key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
}

async function openOutside(): Promise<Around> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-outside-'));
  const { file, key, cert } = makeCertificate(folder);
  const inside = await openInside();
  const answers = new Map<string, Answer>();
  const asked: string[] = [];
  let connections = 0;
  const server = createServer({ key, cert }, (req, res) => {
    const name = `${req.headers.host}`;
    asked.push(name);
    const answer = answers.get(name);
    if (answer) answer(req, res);
    else res.writeHead(404).end();
  });
  server.on('connection', () => connections++);
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const outside: Outside = {
    asked,
    connections: () => connections,
    inside: inside.seen,
    serve: (name, answer) =>
      answers.set(
        name,
        typeof answer === 'function'
          ? (answer as Answer)
          : (_req, res) => res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer)),
      ),
  };
  return {
    env: {
      NODE_OPTIONS: `--import ${new URL('../network.mjs', import.meta.url).pathname}`,
      NODE_EXTRA_CA_CERTS: file,
      ATTACK_NETWORK: `${port} ${inside.port}`,
    },
    started: (target) => void outsides.set(target, outside),
    close() {
      server.closeAllConnections();
      server.close();
      inside.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const networked: Place = {
  ...web,
  name: 'web in a network',
  env: { ...web.env, SERVICE_CIMD_DENIED_DOMAINS: 'evil.example', SERVICE_REMOTE_HOSTS: 'till.internal' },
  around: openOutside,
};

let last = 0;
/** A public name that no other attack uses. */
export const publicName = (): string => `host-${++last}.sites.example`;

/** Longer than any limit of the server. A request that waits this long has no limit. */
export const FOREVER_MS = 12_000;
export const late = <T>(work: Promise<T>): Promise<T | 'late'> =>
  Promise.race([work, systemClock.sleep(FOREVER_MS).then(() => 'late' as const)]);
