// What list and listRelated ask of the engine: pages, cursors, and the same conditions for the records and their count.
import { expect, test } from 'vitest';
import type { CallOptions, CountRequest, ListAnswer, ListRequest } from '../../src/agent/requests.ts';
import { Stop } from '../../src/core/clock/stop.ts';
import { AppError } from '../../src/core/errors.ts';
import type { ToolCall } from '../../src/mcp/tool.ts';
import { type ListingReads, readListing, runListing } from '../../src/mcp/tools/listing.ts';

interface Asked {
  readonly lists: Omit<ListRequest, 'collection'>[];
  readonly counts: [Omit<CountRequest, 'collection'>, CallOptions][];
  readonly answer: { readonly totalCount?: number | null; readonly note?: string; readonly rows?: unknown[] };
}

async function run(input: Record<string, unknown>, { hasMore = false, counting = async () => 7 } = {}): Promise<Asked> {
  const lists: Asked['lists'] = [];
  const counts: Asked['counts'] = [];
  const listed = { columns: ['id'], rows: [[1]], hasMore, cursorAfter: () => 'next' } as unknown as ListAnswer;
  const reads: ListingReads = {
    list: async (request) => {
      lists.push(request);
      return listed;
    },
    count: (request, options) => {
      counts.push([request, options]);
      return counting();
    },
  };
  const config = { pageSize: 15, pageSizeLimit: 100, answerTokens: 1000 };
  const text = await runListing(readListing(input), { config, signal: new Stop() } as unknown as ToolCall, reads);
  return { lists, counts, answer: JSON.parse(text) };
}

test.each([
  [{}, { limit: 15, skip: 0 }],
  [{ pagination: { number: 3 } }, { limit: 15, skip: 30 }],
  [{ pagination: { size: 4, number: 3 } }, { limit: 4, skip: 8 }],
  [{ pagination: { size: 100 } }, { limit: 100, skip: 0 }],
  [
    { cursor: 'c', pagination: { size: 4, number: 3 } },
    { cursor: 'c', limit: 4, skip: 0 },
  ],
  [
    { cursor: '', segment: '', timezone: '', search: ' ' },
    { limit: 15, skip: 0 },
  ],
  [
    { segment: 'late', timezone: 'Asia/Tokyo', search: ' ada ' },
    { segment: 'late', timezone: 'Asia/Tokyo', search: 'ada', limit: 15, skip: 0 },
  ],
  [
    { search: 'ada', shouldSearchInRelation: true },
    { search: 'ada', searchExtended: true, limit: 15, skip: 0 },
  ],
])('%j asks for %j', async (input, request) => {
  const { lists, counts } = await run(input);
  expect([lists, counts]).toEqual([[request], []]);
});

test.each([{}, { cursor: 'c' }, { pagination: { number: 2 } }])(
  'a page has at most as many records as the limit, with %j too',
  async (input: { pagination?: object }) => {
    const large = { ...input, pagination: { ...input.pagination, size: 101 } };
    await expect(run(large)).rejects.toThrow('pagination.size: at most 100; continue with nextCursor.');
  },
);

test('the count has the conditions of the list, without its page, and two seconds', async () => {
  const filters = { field: 'id', operator: 'GreaterThan', value: 1 };
  const conditions = { segment: 'late', search: 'ada', searchExtended: true, timezone: 'Asia/Tokyo' };
  const { counts, answer } = await run({
    ...{ segment: 'late', search: 'ada', shouldSearchInRelation: true, timezone: 'Asia/Tokyo', filters },
    ...{ enableCount: true, cursor: 'c', sort: [{ field: 'id' }], pagination: { size: 2 } },
  });
  expect([counts.map(([request, { timeoutMs }]) => [request, timeoutMs]), answer.totalCount]).toEqual([
    [[{ ...conditions, filter: filters }, 2000]],
    7,
  ]);
});

test('a count that takes too long is null, with a note, and the records are shown', async () => {
  const late = new AppError('TIMED_OUT', {} as never);
  const { answer } = await run({ enableCount: true }, { counting: () => Promise.reject(late) });
  expect([answer.totalCount, answer.rows, answer.note]).toEqual([
    null,
    [[1]],
    expect.stringContaining('totalCount is null: counting took longer than 2 s.'),
  ]);
});

test('another failure of the count is that of the call', async () => {
  const refused = new AppError('NOT_READY', {});
  await expect(run({ enableCount: true }, { counting: () => Promise.reject(refused) })).rejects.toBe(refused);
});

test('a distant page that is followed by others gets the advice to use the cursor', async () => {
  const noteOf = async (number: number, hasMore: boolean) =>
    (await run({ pagination: { size: 100, number } }, { hasMore })).answer.note;
  expect([await noteOf(100, true), await noteOf(101, false), await noteOf(101, true)]).toEqual([
    undefined,
    undefined,
    expect.stringContaining('The database read the 10000 records before this page too.'),
  ]);
});
