// The stores, owners and tags of the recorded responses, and special cases: a composite key that contains the id
// separator, records that point to each other, and records without a key.
import { createHeadlessAgent, type HeadlessAgent } from '../../src/agent/agent.ts';
import type { Engine } from '../../src/agent/engine.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import type { MemoryTable } from '../../src/agent/sources/memory/tables.ts';
import type { Source } from '../../src/agent/sources/source.ts';
import { systemClock } from '../../src/core/clock.ts';

const number = (name: string) => ({ name, type: 'Number' }) as const;
const text = (name: string) => ({ name, type: 'String' }) as const;

export const storeTables: readonly MemoryTable[] = [
  {
    name: 'owners',
    columns: [number('id'), text('first_name'), text('email'), { name: 'meta', type: 'Json' }],
    primaryKey: ['id'],
    rows: [
      [1, 'First1', 'u1@x.io', null],
      [2, 'First2', 'u2@x.io', { a: { b_c: 2 }, inner_key: 2 }],
    ],
  },
  {
    name: 'stores',
    columns: [
      number('id'),
      text('name'),
      { ...number('owner_id'), nullable: true },
      text('status'),
      { name: 'opened_at', type: 'Date' },
      number('revenue'),
    ],
    primaryKey: ['id'],
    foreignKeys: [{ columns: ['owner_id'], table: 'owners', targetColumns: ['id'] }],
    rows: [
      [1, 'Store 1', 2, 'closed', '2026-11-20T11:11:52.442Z', 1.5],
      [2, 'Store 2', 2, 'open', '2026-11-21T00:00:00.000Z', 20],
      [3, '"Store" 3', null, 'open', '2026-11-22T00:00:00.000Z', -3],
    ],
  },
  {
    name: 'tags',
    columns: [number('store_id'), text('label'), number('weight')],
    primaryKey: ['store_id', 'label'],
    foreignKeys: [{ columns: ['store_id'], table: 'stores', targetColumns: ['id'] }],
    rows: [
      [1, 'a|b', 5],
      [1, 'new', 6],
      [2, 'old', 7],
    ],
  },
  {
    name: 'people',
    columns: [
      number('id'),
      text('name'),
      { ...number('boss_id'), nullable: true },
      { ...number('deputy_id'), nullable: true },
    ],
    primaryKey: ['id'],
    foreignKeys: [
      { columns: ['boss_id'], table: 'people', targetColumns: ['id'] },
      { columns: ['deputy_id'], table: 'people', targetColumns: ['id'] },
    ],
    rows: [
      [1, 'Ada', null, 3],
      [2, 'Bo', 1, null],
      [3, 'Cy', 1, 1],
    ],
  },
  { name: 'visits', columns: [text('page'), number('count')], rows: [['/', 9]] },
];

export function openStores(
  customize: (agent: HeadlessAgent) => void = () => {},
  source: Source = createMemorySource('memory', storeTables),
): Promise<Engine> {
  const agent = createHeadlessAgent().addDataSource(() => source);
  customize(agent);
  return agent.createEngine({
    observe: () => undefined,
    clock: systemClock,
    limits: { pageSizeLimit: 1000, queryTimeoutMs: 30_000 },
  });
}
