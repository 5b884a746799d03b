// A server loads only what it needs to answer the first tool call. Modules for pages, sign-ins, other protocol requests
// or other databases come later. The test reads the imports, because start-up time depends on the machine.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import * as ours from '../../src/mcp/transport/meta-keys.ts';
import { readSource } from '../architecture/source-text.ts';

/** Files and packages that `start` loads, with the file that imports each of them first. */
function weigh(start: string): ReadonlyMap<string, string> {
  const found = new Map([[start, '']]);
  for (const file of found.keys()) {
    if (!file.startsWith('src/')) continue;
    for (const { from, kind } of readSource(readFileSync(file, 'utf8')).imports) {
      if (kind === 'type' || kind === 'dynamic') continue;
      const name = from.startsWith('.') ? join(dirname(file), from) : from;
      if (!found.has(name)) found.set(name, file);
    }
  }
  return found;
}

test('the server loads only the modules that its first call needs', () => {
  const loaded = weigh('src/server/create-server.ts');
  // Check that the scan works: these modules are always loaded.
  expect([loaded.has('knex'), loaded.has('src/mcp/transport/serving.ts')]).toEqual([true, true]);
  const later =
    /^(@modelcontextprotocol\/|oidc-provider|openid-client|yaml$|ioredis|bullmq|openai|@anthropic-ai|otpauth|rate-limiter-flexible$|src\/console\/console\.ts)/;
  expect([...loaded].filter(([name]) => later.test(name))).toEqual([]);
});

test('constants that are not imported from the SDK equal those of the SDK', () => {
  const { LEGACY_VERSIONS, ...keys } = ours;
  expect(keys).toEqual({
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    LOG_LEVEL_META_KEY,
    PROTOCOL_VERSION_META_KEY,
    SERVER_INFO_META_KEY,
  });
  expect(LEGACY_VERSIONS).toEqual(SUPPORTED_PROTOCOL_VERSIONS.filter((version) => version < '2026-07-28'));
});
