// Uploads and downloads over rows in memory: whose they are, in which state they can be used, and for how long.
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { isAppError } from '../../src/core/errors.ts';
import { createFiles } from '../../src/mcp/uploads/files.ts';
import type { FileRow, FileRows } from '../../src/store/files/types.ts';

const about = { name: 'orders.csv', mimeType: 'text/csv' };
const minute = 60_000;

async function* body(...texts: string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text);
}

function open() {
  let now = 0;
  const kept = new Map<string, FileRow>();
  const parts = new Map<string, string>();
  const inactive = new Set<number>();
  const find = (id: string) => {
    const row = kept.get(id);
    return row && row.expiresAt > now ? row : undefined;
  };
  const change = (id: string, from: FileRow['state'], more: Partial<FileRow>): boolean => {
    const row = find(id);
    if (row?.state !== from) return false;
    kept.set(id, { ...row, ...more });
    return true;
  };
  const rows: FileRows = {
    add: async (row) => void kept.set(row.id, row),
    find: async (id) => find(id),
    move: async (id, from, state) => change(id, from, { state }),
    putPart: async (id, part, sealed) => void parts.set(`${id} ${part}`, sealed),
    findPart: async (id, part) => parts.get(`${id} ${part}`),
    finish: async (id, size) => change(id, 'arriving', { ...size, state: 'ready' }),
    restart: async (id) => void change(id, 'arriving', { state: 'asked' }),
    keep: async (id, expiresAt) => void (find(id) && kept.set(id, { ...find(id)!, expiresAt })),
    remove: async (id) => void kept.delete(id),
    countOf: async (userId) => [...kept.values()].filter((row) => row.userId === userId).length,
    sweep: async () => undefined,
  };
  const files = createFiles({
    rows,
    config: { fileLimitBytes: 10 },
    clock: { now: () => now },
    endpoint: () => 'https://shop.example/mcp',
    isActive: async (userId) => !inactive.has(userId),
  });
  /** An upload of user 1 that has arrived. */
  const arrived = async () => {
    const { key } = await files.requestUpload(1, about);
    await files.receive(key, body('abc'));
    return key;
  };
  const isThere = async (key: string, userId = 1) => (await files.findUpload(userId, key)) !== undefined;
  const move = (ms: number) => {
    now += ms;
  };
  return { files, kept, inactive, arrived, isThere, move };
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: unknown) => (isAppError(error) ? error.code : 'thrown'),
  );

describe('an upload', () => {
  test('is usable after it arrived, by its user only, until fifteen minutes after the request', async () => {
    const { files, isThere, move } = open();
    const { key, url } = await files.requestUpload(1, about);
    const early = await isThere(key);
    await files.receive(key, body('ab', 'c'));
    expect([url, early, await isThere(key), await isThere(key, 2), await files.findUpload(1, key)]).toEqual([
      `https://shop.example/mcp/uploads/${key}`,
      false,
      true,
      false,
      { ...about, content: Buffer.from('abc') },
    ]);
    move(15 * minute - 1);
    const last = await isThere(key);
    move(1);
    expect([last, await isThere(key)]).toEqual([true, false]);
  });

  test('is received once; after a failure it can be sent again', async () => {
    const { files } = open();
    const sha256 = createHash('sha256').update('abc').digest('base64url');
    const { key } = await files.requestUpload(1, { ...about, sha256 });
    expect([
      await codeOf(files.receive(key, body('x'.repeat(11)))),
      await codeOf(files.receive(key, body('abd'))),
      await codeOf(files.receive(key, body('abc'))),
      await codeOf(files.receive(key, body('abc'))),
    ]).toEqual(['BODY_TOO_LARGE', 'INVALID_ARGUMENT', 'done', 'FILE_SENT']);
  });

  test('is reserved by one call, and free again or gone when the call ends', async () => {
    const { files, arrived, isThere } = open();
    const key = await arrived();
    const first = await files.reserveUpload(1, key);
    const others = [await files.reserveUpload(1, key), await files.findUpload(1, key)];
    await files.deleteUpload(1, key);
    await files.endReservation(key, false);
    const free = await isThere(key);
    await files.reserveUpload(1, key);
    await files.endReservation(key, true);
    expect([first?.name, others, free, await isThere(key)]).toEqual([
      'orders.csv',
      [undefined, undefined],
      true,
      false,
    ]);
  });

  test('lives longer, never shorter, and for its own user only', async () => {
    const { files, arrived, isThere, move } = open();
    const key = await arrived();
    await files.extendUpload(2, key, 60 * minute);
    await files.extendUpload(1, key, 20 * minute);
    await files.extendUpload(1, key, 5 * minute);
    move(20 * minute - 1);
    const last = await isThere(key);
    move(1);
    expect([last, await isThere(key)]).toEqual([true, false]);
  });

  test('is deleted by its own user only, and by no download of that key', async () => {
    const { files, arrived, isThere, kept } = open();
    const key = await arrived();
    await files.deleteUpload(2, key);
    const kind = await codeOf(files.open(key));
    const before = await isThere(key);
    await files.deleteUpload(1, key);
    expect([kind, before, await isThere(key), kept.size]).toEqual(['FILE_GONE', true, false, 0]);
  });

  test('of a user who is disabled is neither received nor used', async () => {
    const { files, arrived, isThere, inactive } = open();
    const [key, asked] = [await arrived(), (await files.requestUpload(1, about)).key];
    inactive.add(1);
    expect([
      await isThere(key),
      await codeOf(files.receive(asked, body('a'))),
      await codeOf(files.metadataOf(asked)),
    ]).toEqual([false, 'FILE_GONE', 'FILE_GONE']);
  });
});

describe('a download', () => {
  const keyOf = (url: string) => url.slice(-43);

  test.each([
    [undefined, 15 * minute],
    [24 * 3600, 24 * 60 * minute],
  ])('stored for %s seconds is gone afterwards, and can be fetched repeatedly before', async (seconds, ms) => {
    const { files, move } = open();
    const { url, bytes } = (await files.createDownload(1, { ...about, collection: 'orders' }, body('abc'), seconds))!;
    const first = await files.open(keyOf(url));
    move(ms - 1);
    const last = await codeOf(files.open(keyOf(url)));
    move(1);
    expect([
      url.startsWith('https://shop.example/mcp/downloads/'),
      bytes,
      first.userId,
      first.collection,
      last,
    ]).toEqual([true, 3, 1, 'orders', 'done']);
    expect(await codeOf(files.open(keyOf(url)))).toBe('FILE_GONE');
  });

  test('that is too large, or whose content fails, leaves nothing', async () => {
    const { files, kept } = open();
    async function* failing(): AsyncGenerator<Buffer> {
      yield Buffer.from('a');
      throw new Error('broken');
    }
    const large = await files.createDownload(1, about, body('x'.repeat(11)));
    expect([large, await codeOf(files.createDownload(1, about, failing())), kept.size]).toEqual([
      undefined,
      'thrown',
      0,
    ]);
  });

  test('cannot be opened before it has arrived, nor used as an upload', async () => {
    const { files, kept, isThere } = open();
    const { url } = (await files.createDownload(1, about, body('abc')))!;
    const upload = await isThere(keyOf(url));
    for (const [id, row] of kept) kept.set(id, { ...row, state: 'arriving' });
    expect([upload, await codeOf(files.open(keyOf(url)))]).toEqual([false, 'FILE_GONE']);
  });
});
