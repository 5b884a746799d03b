// The paths that become names which no collection can have: those directly below the prefix, in each deployment.
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/core/config.ts';
import { reservedNames } from '../../src/rest/reserved.ts';

const always = [
  ...['_actions', '_api', '_charts', '_console', '_internal', '_platform', 'authentication'],
  ...['scope-cache-invalidation', 'stats'],
];

test.each([
  [{}, []],
  [{ SERVICE_PREFIX: '/data' }, []],
  [{ SERVICE_PREFIX: '/data', SERVICE_MCP_BASE_PATH: '/data' }, ['mcp', 'oauth']],
  [{ SERVICE_PREFIX: '/data', SERVICE_MCP_BASE_PATH: '/data/ai' }, ['ai']],
  [{ SERVICE_PREFIX: '/data', SERVICE_MCP_BASE_PATH: '/database' }, []],
  [{ SERVICE_PREFIX: '/data', SERVICE_CONSOLE_PATH: '/data/people' }, ['people']],
  [{ SERVICE_PREFIX: '/data', SERVICE_CONSOLE_PATH: '/data/a/b' }, ['a']],
  [{ SERVICE_PREFIX: '/data', SERVICE_API_PATH: '/data' }, ['v1']],
  [{ SERVICE_PREFIX: '/data', SERVICE_API_PATH: '/data/public' }, ['public']],
] as const)('%j', (env, expected) => {
  const found = reservedNames(loadConfig({ env }));
  expect([...found].filter((name) => !always.includes(name)).sort()).toEqual(expected);
  expect(always.filter((name) => !found.has(name))).toEqual([]);
});
