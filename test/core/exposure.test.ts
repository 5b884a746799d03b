// The warning about passwords and tokens without encryption: for every form of an address that other machines reach.
import { expect, test } from 'vitest';
import { findProblems } from '../../src/core/config/findings.ts';
import { loadConfig } from '../../src/core/config.ts';

const isWarned = (host: string, publicUrl?: string): boolean => {
  const env = { SERVICE_HOST: host, ...(publicUrl === undefined ? {} : { SERVICE_PUBLIC_URL: publicUrl }) };
  return findProblems(loadConfig({ env })).some(({ text }) => text.startsWith(`Listening on ${host} without`));
};

test.each([
  ['0.0.0.0', undefined, true],
  ['::', undefined, true],
  ['10.0.0.7', undefined, true],
  ['data.internal', undefined, true],
  ['127.data.internal', undefined, true],
  ['localhost.data.internal', undefined, true],
  ['0.0.0.0', 'http://data.example.com', true],
  ['0.0.0.0', 'http://127.0.0.1:8080', true],
  ['::', 'http://localhost:8080', true],
  ['0.0.0.0', 'https://data.example.com', false],
  ['::', 'https://data.example.com/portico', false],
  ['127.0.0.1', undefined, false],
  ['127.8.9.10', undefined, false],
  ['::1', undefined, false],
  ['localhost', undefined, false],
] as const)('host %s with the public URL %s: a warning: %s', (host, publicUrl, expected) => {
  expect(isWarned(host, publicUrl)).toBe(expected);
});
