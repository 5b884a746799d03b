// In a host application, the default paths lie below the prefix, whether code or the environment sets it.
import { expect, test, vi } from 'vitest';
import { createAgentConfig } from '../../src/server/agent/config.ts';

const pathsOf = (code: object) => {
  const { prefix, consolePath, apiPath, platformPath } = createAgentConfig({ code } as never, {
    mcp: undefined,
    standalone: undefined,
  });
  return [prefix, consolePath, apiPath, platformPath];
};
const below = (prefix: string) => [prefix, `${prefix}/_console`, `${prefix}/_api`, `${prefix}/_platform`];

test.each([
  [{}, undefined, below('/service')],
  [{}, '/data', below('/data')],
  [{ prefix: '/code' }, undefined, below('/code')],
  [{ prefix: '/code' }, '/data', below('/code')],
])('code %j, SERVICE_PREFIX %s', (code, prefix, expected) => {
  vi.stubEnv('SERVICE_PREFIX', prefix);
  try {
    expect(pathsOf(code)).toEqual(expected);
  } finally {
    vi.unstubAllEnvs();
  }
});
