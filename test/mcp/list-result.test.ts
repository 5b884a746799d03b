// The text of a list: what it has beside the rows, and where it is cut.
import { describe, expect, test } from 'vitest';
import { listText } from '../../src/mcp/results/list-result.ts';
import { fitsTokens } from '../../src/mcp/results/tokens.ts';

type Answer = Parameters<typeof listText>[0];

const answerOf = (count: number, more: Partial<Answer> = {}, text = 'short'): Answer => ({
  columns: ['id', 'text'],
  rows: Array.from({ length: count }, (_, at) => [at + 1, text]),
  hasMore: false,
  cursorAfter: (index) => `after-${index}`,
  ...more,
});
const told = async (answer: Answer, more: Partial<Parameters<typeof listText>[1]> = {}) => {
  const text = await listText(answer, { format: 'table', budgetTokens: 1000, ...more });
  return { text, ...(JSON.parse(text) as { rows: unknown[][]; note?: string; nextCursor?: string; hasMore: boolean }) };
};
const long = 'some words of a text '.repeat(20);

test('a complete list has neither cursor nor note', async () => {
  expect((await told(answerOf(2))).text).toBe(
    '{"columns":["id","text"],"rows":[[1,"short"],[2,"short"]],"hasMore":false}',
  );
});

test('a page that is followed by others has the cursor after its last row', async () => {
  expect((await told(answerOf(2, { hasMore: true }))).text).toBe(
    '{"columns":["id","text"],"rows":[[1,"short"],[2,"short"]],"hasMore":true,"nextCursor":"after-1"}',
  );
});

test('a total of none is told, as is a total that was not counted', async () => {
  const texts = [0, null].map(async (totalCount) => (await told(answerOf(0), { totalCount })).text);
  expect(await Promise.all(texts)).toEqual([
    '{"columns":["id","text"],"rows":[],"hasMore":false,"totalCount":0}',
    '{"columns":["id","text"],"rows":[],"hasMore":false,"totalCount":null}',
  ]);
});

test('records have the names of the columns', async () => {
  const { text } = await told(answerOf(2, { note: 'A note.' }), { format: 'records' });
  expect(text).toBe('{"records":[{"id":1,"text":"short"},{"id":2,"text":"short"}],"hasMore":false,"note":"A note."}');
});

describe('a list above the budget', () => {
  test.each(['table', 'records'] as const)(
    'as %s is cut on a row, within the budget, and continues there',
    async (format) => {
      const text = await listText(answerOf(40, {}, long), { format, budgetTokens: 1000 });
      const { rows, records = rows, note, nextCursor, hasMore } = JSON.parse(text);
      const count = records.length;
      expect([count > 1 && count < 40, fitsTokens(text, 1000), hasMore, nextCursor, note]).toEqual([
        true,
        true,
        true,
        `after-${count - 1}`,
        `Cut at ${count} of 40 records: an answer is limited to about 1000 tokens. Continue with nextCursor. Name fewer fields to see more at once.`,
      ]);
    },
  );

  test('without cursors says how large a page may be', async () => {
    const { rows, note, nextCursor } = await told(answerOf(40, { cursorAfter: () => undefined }, long));
    expect([nextCursor, note]).toEqual([
      undefined,
      expect.stringContaining(`This list has no cursor: request pages of at most ${rows.length} (pagination.size).`),
    ]);
  });

  test('shows at least one row, with its long texts cut', async () => {
    const { text, rows, hasMore, nextCursor } = await told(answerOf(3, {}, long.repeat(40)));
    expect([rows.length, rows[0]![0], fitsTokens(text, 1000), hasMore, nextCursor]).toEqual([
      1,
      1,
      true,
      true,
      'after-0',
    ]);
  });

  test('shows one row with all its columns, each cut further, if no row fits', async () => {
    const columns = Array.from({ length: 8 }, (_, at) => `column_${at}`);
    const rows = Array.from({ length: 3 }, () => columns.map(() => long.repeat(10)));
    const { text, rows: shown, hasMore, nextCursor } = await told(answerOf(3, { columns, rows }));
    expect([shown.length, shown[0]!.length, fitsTokens(text, 1000), hasMore, nextCursor]).toEqual([
      1,
      8,
      true,
      true,
      'after-0',
    ]);
  });

  test('of one record with too many columns says to name fewer', async () => {
    const columns = Array.from({ length: 2000 }, (_, at) => `column_${at}`);
    const rows = [columns.map((_, at) => at)];
    await expect(told(answerOf(1, { columns, rows }))).rejects.toThrow(/^fields: one record with 2000 columns exceeds/);
  });
});
