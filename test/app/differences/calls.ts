// Random calls over the rows of a world.
import type { Random } from '../../agent/oracle/random.ts';
import type { Music } from '../music.ts';
import { nestedOf } from './code.ts';
import type { Snapshot } from './judge.ts';
import type { Table, World } from './tables.ts';

export interface Call {
  readonly tool: 'create' | 'update' | 'delete' | 'associate' | 'dissociate' | 'executeAction';
  readonly args: Readonly<Record<string, unknown>>;
  /** The target table of a relation. If the answer names another table, junction rows are created or deleted. */
  readonly to?: string;
  /** Defaults to the tool. `relationship` updates the foreign key through its relation, over the HTTP API. */
  readonly by?: 'HTTP' | 'relationship' | 'step' | 'confirmed step';
  /** The record of the run, for a step that executes an action. */
  readonly on?: string;
}

export interface Link {
  readonly table: Table;
  readonly relation: string;
  readonly to: Table;
}

/** To-many relations, as the endpoint describes them. */
export async function readRelations(music: Music, { tables, removed }: World): Promise<Link[]> {
  const links: Link[] = [];
  for (const table of tables.filter(({ name }) => name !== removed)) {
    const described = (await music.call('describeCollection', { collectionName: table.name })) as {
      relations?: Record<string, string>;
    };
    for (const [relation, text] of Object.entries(described.relations ?? {})) {
      const to = tables.find(({ name }) => name === text.split(' ')[1]);
      if (text.startsWith('many') && to && to.key.length > 0) links.push({ table, relation, to });
    }
  }
  return links;
}

export const idOf = ({ key }: Table, row: Readonly<Record<string, unknown>>): string =>
  key.map((column) => String(row[column])).join('|');

export function makeCall(
  random: Random,
  { tables: every, removed, closed }: World,
  snapshot: Snapshot,
  links: readonly Link[],
  at: number,
): Call | undefined {
  const tables = every.filter(({ name }) => name !== removed);
  const keyed = tables.filter(({ key, name }) => key.length > 0 && snapshot.get(name)!.length > 0);
  const some = keyed.length ? keyed : tables.filter(({ key }) => key.length > 0);
  // Other tables reference the first ones.
  const table = some[Math.min(random.number(some.length), random.number(some.length))]!;
  const rows = snapshot.get(table.name)!;
  const ids = (of: Table, most: number) => random.some(snapshot.get(of.name)!, 1, most).map((row) => idOf(of, row));
  // The HTTP API cannot ask for approval.
  const http = (args: Call['args'], chance: number): Pick<Call, 'by'> =>
    random.chance(closed[String(args.collectionName)] === 'ask' ? chance / 5 : chance) ? { by: 'HTTP' } : {};
  const plain = (tool: Call['tool'], args: Call['args']): Call => {
    const { recordIds = [''] } = args as { readonly recordIds?: readonly string[] };
    // A step changes the record of its run.
    if (tool === 'update' && random.chance(0.35))
      return {
        ...{ tool, args: { ...args, recordIds: recordIds.slice(0, 1) } },
        by: random.pick(['step', 'confirmed step']),
      };
    return { tool, args, ...(recordIds.length === 1 ? http(args, 0.3) : {}) };
  };
  if (random.chance(0.1)) {
    const point = pointTo(random, table, removed, snapshot);
    if (point) return point;
  }
  if (random.chance(0.15) && !table.isPairs) {
    const values = { below: random.number(6), n: random.number(12) };
    const actionName = random.pick(['Set', 'Remove']);
    const args = { collectionName: table.name, actionName, values };
    const call = { tool: 'executeAction', args } as const;
    if (rows.length > 0 && table.key.length > 0 && random.chance(0.4))
      return { ...call, by: random.pick(['step', 'confirmed step']), on: ids(table, 1)[0]! };
    return { ...call, ...http(args, 0.4) };
  }
  const kind = random.number(10);
  if (kind < 3 || rows.length === 0) {
    const names = random.chance(0.05) ? ['77777'] : [];
    const recordIds = [...(rows.length ? ids(table, 2) : []), ...names];
    if (kind < 3 && recordIds.length) return plain('delete', { collectionName: table.name, recordIds });
  }
  if (kind < 5 && rows.length) {
    const values = random.some(settable(random, table, snapshot), 1, 2);
    const attributes = Object.assign({}, ...values) as Record<string, unknown>;
    addNested(random, table, removed, attributes, at);
    if (Object.keys(attributes).length)
      return plain('update', { collectionName: table.name, recordIds: ids(table, 3), attributes });
  }
  if (kind < 6 && rows.length) {
    const column = random.pick(table.key);
    const isFree = !table.foreignKeys.some(({ columns }) => columns.includes(column));
    if (isFree)
      return plain('update', {
        collectionName: table.name,
        recordIds: ids(table, 1),
        attributes: { [column]: random.chance(0.2) ? rows[0]![column] : 1000 + at },
      });
  }
  if (kind < 8 && links.length) {
    const link = random.pick(links);
    const [parents, targets] = [snapshot.get(link.table.name)!, snapshot.get(link.to.name)!];
    if (parents.length && targets.length) {
      const ends = {
        collectionName: link.table.name,
        relationName: link.relation,
        parentRecordId: ids(link.table, 1)[0],
      };
      return {
        ...(random.chance(0.5)
          ? { tool: 'associate' as const, args: { ...ends, targetRecordIds: ids(link.to, 1) } }
          : { tool: 'dissociate' as const, args: { ...ends, targetRecordIds: ids(link.to, 2) } }),
        ...{ to: link.to.name, ...http(ends, 0.35) },
      };
    }
  }
  const attributes: Record<string, unknown> = {};
  for (const { name } of table.columns) attributes[name] = name === 'n' ? random.number(12) : 2000 + at;
  for (const choice of settable(random, table, snapshot, true)) Object.assign(attributes, choice);
  addNested(random, table, removed, attributes, at);
  return plain('create', { collectionName: table.name, attributes });
}

/** Replaces the target of a to-one relation over HTTP. The dry run is that of the same update. */
function pointTo(random: Random, table: Table, removed: string | null, snapshot: Snapshot): Call | undefined {
  const [relation] = random.some(
    nestedOf(table, removed).filter(({ column }) => !table.key.includes(column)),
    0,
    1,
  );
  const rows = snapshot.get(table.name)!;
  if (!relation || rows.length === 0) return undefined;
  const targets = snapshot.get(relation.target)!;
  const { nullable } = table.columns.find(({ name }) => name === relation.column)!;
  const isCut = targets.length === 0 || random.chance(0.3);
  if (isCut && !nullable) return undefined;
  const { targetColumns } = table.foreignKeys.find(({ columns }) => columns[0] === relation.column)!;
  const value = isCut ? null : random.pick(targets)[targetColumns[0]!];
  const recordIds = [idOf(table, random.pick(rows))];
  const args = { collectionName: table.name, recordIds, attributes: { [relation.column]: value } };
  return { tool: 'update', args, by: 'relationship' };
}

/** Sets fields of the related record. Without a related record, the call creates one with these fields. */
function addNested(
  random: Random,
  table: Table,
  removed: string | null,
  attributes: Record<string, unknown>,
  at: number,
): void {
  const nested = nestedOf(table, removed);
  if (nested.length === 0 || !random.chance(0.3)) return;
  const { name, column } = random.pick(nested);
  attributes[`${name}:n`] = random.number(12);
  if (random.chance(0.3)) {
    delete attributes[column];
    attributes[`${name}:id`] = 4000 + at;
  }
}

/** Values for the columns of each foreign key, and for the plain column. */
function settable(random: Random, table: Table, snapshot: Snapshot, isNew = false): Record<string, unknown>[] {
  const choices: Record<string, unknown>[] = table.columns.some(({ name }) => name === 'n')
    ? [{ n: random.number(12) }]
    : [];
  for (const { columns, target, targetColumns } of table.foreignKeys) {
    if (!isNew && columns.some((column) => table.key.includes(column))) continue;
    const there = snapshot.get(target)!;
    const mayBeNull = columns.every((column) =>
      table.columns.some(({ name, nullable }) => nullable && name === column),
    );
    const row = there.length && !(mayBeNull && random.chance(0.3)) ? random.pick(there) : undefined;
    if (row || mayBeNull)
      choices.push(Object.fromEntries(columns.map((column, part) => [column, row ? row[targetColumns[part]!] : null])));
  }
  return choices;
}
