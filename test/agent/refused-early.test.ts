// Oversized input is refused as soon as it exceeds the limit, without reading the rest of the body. The tests count the
// parts that were read.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isAppError } from '../../src/core/errors.ts';
import { MAX_CONDITIONS, MAX_GROUPS, MAX_SORTS, type PlainFilter } from '../../src/core/filter.ts';
import { readSort } from '../../src/mcp/input/arguments.ts';
import { readFilter } from '../../src/mcp/input/filters.ts';
import { readGroups } from '../../src/mcp/input/groups.ts';
import { parseFilterTree } from '../../src/rest/filters.ts';
import { accessOf, type Shop, sellers } from './shop.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await sellers[0]!.open();
});
afterAll(() => shop.close());

let looks = 0;
/** Conditions that count the reads of their field. */
const leaves = (count: number): PlainFilter[] =>
  Array.from({ length: count }, () => ({
    get field() {
      looks++;
      return 'id';
    },
    operator: 'Equal' as const,
    value: 1,
  }));
const any = (conditions: readonly PlainFilter[]) => ({ aggregator: 'Or' as const, conditions });

const readers: Record<string, (filter: PlainFilter) => unknown> = {
  'a tool': (filter) => readFilter({ filters: filter }, 'filters'),
  'a tool, as a list': (filter) => readFilter({ filters: [filter] }, 'filters'),
  'the HTTP API': (filter) => parseFilterTree(filter, 'filter'),
  'the engine': (filter) => shop.engine.count(accessOf(), { collection: 'orders', filter }),
};
const codeOf = async (work: () => unknown): Promise<unknown> => {
  try {
    await work();
  } catch (error) {
    return isAppError(error) ? `${error.code} ${String((error.details as { argument?: string }).argument)}` : error;
  }
  return 'read';
};

test.each(Object.entries(readers))(
  '%s stops reading a filter at the first condition over the limit',
  async (_, read) => {
    const wide = any(leaves(10_000));
    const nested = any(Array.from({ length: 100 }, () => any(leaves(100))));
    for (const filter of [wide, nested]) {
      looks = 0;
      expect(await codeOf(() => read(filter))).toMatch(/^INVALID_ARGUMENT filters?$/);
      expect(looks).toBeGreaterThanOrEqual(MAX_CONDITIONS);
      // Some readers look at one condition several times.
      expect(looks).toBeLessThanOrEqual(8 * MAX_CONDITIONS);
    }
    expect(await codeOf(() => read(any(leaves(MAX_CONDITIONS))))).toBe('read');
  },
);

test.each(Object.entries(readers))('for %s a thousand empty groups are too many conditions too', async (_, read) => {
  expect(await codeOf(() => read(any(Array(1000).fill(any([])))))).toMatch(/^INVALID_ARGUMENT filters?$/);
});

test('a tool resolves no names if there are too many sorts or groups', async () => {
  let found = 0;
  const field = (_: string, text: string) => {
    found++;
    return text;
  };
  const home = { collection: 'orders', names: { ...shop.engine.names(accessOf()), field } };
  const most = { sort: Array(MAX_SORTS).fill('id'), groups: Array(MAX_GROUPS).fill('id') };
  const sorts = [...most.sort, 'id'];
  const refused = [
    () => readSort({ sort: sorts }, 'sort', home),
    () => readSort({ sort: sorts.join(',') }, 'sort', home),
    () => readSort({ sort: Object.fromEntries(sorts.map((_, at) => [`field ${at}`, 'asc'])) }, 'sort', home),
    () => readGroups({ groups: [...most.groups, 'id'] }, 'groups', home),
  ];
  for (const read of refused) expect(await codeOf(read)).toMatch(/^INVALID_ARGUMENT/);
  expect(found).toBe(0);
  expect(readSort(most, 'sort', home)).toHaveLength(MAX_SORTS);
  expect(readGroups(most, 'groups', home)).toHaveLength(MAX_GROUPS);
});

test('the engine has the same limit for sorts', async () => {
  const sorted = (count: number) => () =>
    shop.engine.list(accessOf(), { collection: 'orders', limit: 1, sort: Array(count).fill({ field: 'id' }) });
  expect(await codeOf(sorted(MAX_SORTS))).toBe('read');
  expect(await codeOf(sorted(MAX_SORTS + 1))).toBe('INVALID_ARGUMENT sort');
});

test('the permissions of the fields are checked once, however many names are wrong', async () => {
  const access = accessOf();
  let asked = 0;
  const counted = {
    ...access,
    field: (...given: Parameters<typeof access.field>) => {
      asked++;
      return access.field(...given);
    },
  };
  const look = () => shop.engine.names(counted).field('orders', 'nothing like it');
  expect(look()).toBeUndefined();
  const once = asked;
  for (let at = 0; at < 50; at++) look();
  expect(asked).toBe(once);
  expect(shop.engine.names(counted).field('orders', 'TOTAL')).toBe('total');
});
