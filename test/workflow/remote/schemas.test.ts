// The schema of a remote tool is untrusted: an expensive validation must not block other users.
import { expect, test } from 'vitest';
import type { RemoteServer } from '../../../src/store/remotes/types.ts';
import { checkValues, type Tool } from '../../../src/workflows/remote-mcp/client.ts';
import { watchLateness } from '../../own-time.ts';

const server = { name: 'weather' } as RemoteServer;
const tool = (text: object): Tool => ({
  name: 'look',
  inputSchema: { type: 'object', properties: { text }, required: ['text'] } as Tool['inputSchema'],
});
const check = (schema: object, text: unknown) =>
  checkValues(server, tool(schema), { text }).then(
    () => 'taken',
    (error: Error) => error.message,
  );

test('a pattern with catastrophic backtracking is refused after a time limit, and blocks no other check', async () => {
  expect(await check({ type: 'string' }, 'warm')).toBe('taken');
  const evil = { type: 'string', pattern: '^(.+)+\\u0001$' };
  const ended: string[] = [];
  const note = (said: string) => void ended.push(said);
  const { late } = await watchLateness(() =>
    Promise.all([
      check(evil, 'a plain text of some forty characters...').then(note),
      check({ type: 'number' }, 7).then(note),
    ]),
  );
  expect([ended, late < 500 || late]).toEqual([
    ['taken', expect.stringContaining("the schema of 'look' takes longer than 5 seconds to check.")],
    true,
  ]);
}, 60_000);

test('values are validated against the schema', async () => {
  expect([
    await check({ type: 'string', pattern: '^a+$' }, 'aaa'),
    await check({ type: 'string', pattern: '^a+$' }, 'b'),
    await check({ type: 'nothing' }, 'b'),
  ]).toEqual([
    'taken',
    expect.stringContaining("'look' does not accept them: data/text must match pattern"),
    expect.stringContaining("the schema of 'look' is invalid."),
  ]);
});
