// Background work of the OAuth module: it deletes expired rows, and loads heavy packages only on demand.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { connect, register } from './client.ts';
import { startServer } from './oauth-server.ts';

test('expired rows and unused clients are deleted every ten minutes', async () => {
  let late = 0;
  const timers: { readonly ms: number; readonly run: () => void }[] = [];
  const clock: Clock = {
    ...systemClock,
    now: () => Date.now() + late,
    after(ms, run) {
      const timer = { ms, run };
      timers.push(timer);
      return () => timers.splice(timers.indexOf(timer), 1);
    },
  };
  const server = await startServer({ clock });
  const redirectUri = 'https://notebook.example/callback';
  const metadata = { client_name: 'Notebook', redirect_uris: [redirectUri] };
  const used = await register(server.paths.issuer, metadata);
  await connect(used, server.account, { redirectUri });
  const unused = await register(server.paths.issuer, metadata);
  const kept = async () => {
    const rows = [used, unused].map(({ client }) => server.store.oauth.find('Client', client.client_id));
    return (await Promise.all(rows)).map((row) => row !== undefined);
  };
  const sweep = async (): Promise<void> => {
    const [timer] = timers.filter(({ ms }) => ms === 600_000).splice(0, 1);
    timers.splice(timers.indexOf(timer!), 1);
    timer!.run();
    await expect.poll(() => timers.some(({ ms }) => ms === 600_000)).toBe(true);
  };
  await sweep();
  const atFirst = await kept();
  late = 86_400_000 + 1000;
  await sweep();
  const later = await kept();
  await server.stop();
  expect([atFirst, later, timers.some(({ ms }) => ms === 600_000)]).toEqual([[true, true], [true, false], false]);
});

/** Packages that a file loads on import, directly or through its imports. */
function packagesOf(file: string, seen = new Set<string>()): Set<string> {
  const packages = new Set<string>();
  if (seen.has(file)) return packages;
  seen.add(file);
  for (const [, clause = '', from = ''] of readFileSync(file, 'utf8').matchAll(
    /^import (?!type )(.*?)from '([^']+)';/gms,
  )) {
    if (/^\{(?:\s*type [^,}]+,?)+\s*\}\s*$/.test(clause)) continue;
    if (!from.startsWith('.')) packages.add(from);
    else for (const one of packagesOf(join(dirname(file), from), seen)) packages.add(one);
  }
  return packages;
}

test('importing the gate or the authorization server does not load the provider, Koa, Express or undici', () => {
  const source = join(import.meta.dirname, '../../src/oauth');
  const own = (file: string) => [...packagesOf(join(source, file))].filter((name) => !name.startsWith('node:')).sort();
  expect([own('tokens/bearer.ts'), own('server/authorization-server.ts')]).toEqual([
    ['ipaddr.js', 'lru-cache'],
    ['ipaddr.js', 'lru-cache', 'uqr', 'zod'],
  ]);
});
