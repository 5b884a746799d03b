import { describe, expect, test } from 'vitest';
import { createConsolePaths } from '../../src/console/paths.ts';
import { loadConfig } from '../../src/core/config.ts';
import { isBelow } from '../../src/http/prefixes.ts';

describe('the URLs of the console', () => {
  test('begin with the public URL, with its path', () => {
    const paths = createConsolePaths('https://data.example.com:8443/agent', '/service/_console');
    expect([paths.origin, paths.host, paths.secure, paths.path(''), paths.url('/approvals/a1')]).toEqual([
      'https://data.example.com:8443',
      'data.example.com:8443',
      true,
      '/agent/service/_console',
      'https://data.example.com:8443/agent/service/_console/approvals/a1',
    ]);
  });

  test('match whether a proxy strips the path of the public URL or not', () => {
    const { prefixes } = createConsolePaths('https://data.example.com/agent', '/console');
    const ours = ['/console', '/console/', '/console/approvals', '/agent/console', '/agent/console/approvals/a1'];
    const others = ['/', '/consoles', '/agent', '/other/console', '/agent/consoles/x'];
    expect(ours.filter((path) => !isBelow(path, prefixes))).toEqual([]);
    expect(others.filter((path) => isBelow(path, prefixes))).toEqual([]);
  });
});

describe('SERVICE_CONSOLE_PATH', () => {
  const consolePath = (path: string, basePath = '') =>
    loadConfig({ env: { SERVICE_CONSOLE_PATH: path, SERVICE_MCP_BASE_PATH: basePath } }).consolePath;

  test.each([
    ['', '/console'],
    ['desk', '/desk'],
    ['//a//b/', '/a/b'],
  ])("'%s' is %s", (given, read) => expect(consolePath(given)).toBe(read));

  test.each([
    ['/', '', /expected a path such as \/console/],
    ['/a b', '', /expected a path such as \/console/],
    ['/mcp', '', /expected a path outside of \/mcp/],
    ['/v1/console', '', /expected a path outside of \/v1/],
    ['/data/oauth/console', '/data', /expected a path outside of \/data\/oauth/],
  ])("'%s' is refused beside the basePath '%s'", (given, basePath, problem) =>
    expect(() => consolePath(given, basePath)).toThrow(problem),
  );
});
