// Uploads among the values of a form: which files are read, and when a call uses them up.
import { describe, expect, test } from 'vitest';
import { AppError, type ErrorCode } from '../../src/core/errors.ts';
import { findUploadKeys, readUploads, toHandle, useUploads } from '../../src/mcp/uploads/file-values.ts';
import type { Files } from '../../src/mcp/uploads/files.ts';

const keyOf = (letter: string) => letter.repeat(43);
const [a, b] = [keyOf('a'), keyOf('b')];
const fileOf = (key: string) => ({ name: key[0]!, mimeType: 'text/csv', content: Buffer.from(key[0]!) });

/** Uploads that can be reserved once. */
function open(...available: string[]) {
  const steps: string[] = [];
  const free = new Set(available);
  const files = {
    findUpload: async (_: number, key: string) => (free.has(key) ? fileOf(key) : undefined),
    reserveUpload: async (_: number, key: string) => (free.delete(key) ? fileOf(key) : undefined),
    endReservation: async (key: string, used: boolean) => void steps.push(`${key[0]} ${used ? 'used' : 'free'}`),
  } as unknown as Files;
  return { files, steps };
}

const named = (values: Readonly<Record<string, unknown>>) => JSON.stringify(values, ['one', 'two', 'list', 'name']);

test('files are read from fields and from every item of a list; other values stay', async () => {
  const { files } = open(a, b);
  const values = { one: toHandle(a), list: [toHandle(b), 'text', toHandle(a)], two: `${toHandle(a)}x` };
  const read = await readUploads(files, 1, values);
  expect([read, findUploadKeys(values)]).toEqual([
    { one: fileOf(a), list: [fileOf(b), 'text', fileOf(a)], two: values.two },
    [a, b, a],
  ]);
});

describe('a call', () => {
  const values = { one: toHandle(a), two: toHandle(a), list: [toHandle(b), toHandle(a)] };

  test('may name one upload several times, and uses each up once', async () => {
    const { files, steps } = open(a, b);
    const given = await useUploads(files, 1, values, async (resolved) => named(resolved));
    expect([given, steps]).toEqual([
      '{"one":{"name":"a"},"two":{"name":"a"},"list":[{"name":"b"},{"name":"a"}]}',
      ['a used', 'b used'],
    ]);
  });

  test('with a missing upload does not run, names the field, and frees the others', async () => {
    const { files, steps } = open(a);
    let ran = false;
    const use = async () => {
      ran = true;
    };
    await expect(useUploads(files, 1, values, use)).rejects.toThrow(/^values\.list: /);
    expect([ran, steps]).toEqual([false, ['a free']]);
  });

  test.each([
    ['ACTION_FAILED', 'used'],
    ['ACTION_REFUSED', 'used'],
    ['CANCELLED', 'used'],
    ['TIMED_OUT', 'used'],
    ['INTERNAL', 'used'],
    ['INVALID_FORM', 'free'],
    ['FORBIDDEN', 'free'],
    ['APPROVAL_OVERTAKEN', 'free'],
  ] as const)('that ends with %s leaves its upload %s', async (code: ErrorCode, state) => {
    const { files, steps } = open(a);
    const failure = Object.assign(new AppError('NOT_READY', {}), { code });
    await expect(useUploads(files, 1, { one: toHandle(a) }, () => Promise.reject(failure))).rejects.toBe(failure);
    expect(steps).toEqual([`a ${state}`]);
  });

  test('whose code fails in an unknown way uses its upload up', async () => {
    const { files, steps } = open(a);
    const broken = new Error('broken');
    await expect(useUploads(files, 1, { one: toHandle(a) }, () => Promise.reject(broken))).rejects.toBe(broken);
    expect(steps).toEqual(['a used']);
  });
});
