// Random tables with every kind of foreign key rule and a few rows, as SQL and as a description for the judge.

import type { Random } from '../../agent/oracle/random.ts';
import type { Dialect } from '../../databases.ts';

export interface Key {
  readonly columns: readonly string[];
  readonly target: string;
  readonly targetColumns: readonly string[];
  readonly onDelete: string;
  readonly onUpdate: string;
}

export interface Table {
  readonly name: string;
  /** Empty for a table without a key. */
  readonly key: readonly string[];
  readonly columns: readonly { readonly name: string; readonly nullable: boolean }[];
  readonly foreignKeys: readonly Key[];
  readonly isPairs: boolean;
}

export interface World {
  readonly tables: readonly Table[];
  readonly statements: readonly string[];
  /** The table that triggers a hook. The hook writes a row for each create, update or delete listed in `types`. */
  readonly hook: { readonly table: string; readonly types: readonly ('Create' | 'Update' | 'Delete')[] } | null;
  /** A table with triggers that write into `trigger_log`, which is not compared. */
  readonly triggered: string;
  /** A table that is not served. Cascades still reach it, and other tables through it. */
  readonly removed: string | null;
  /** Collections with fewer rights, or with a row scope. */
  readonly closed: Readonly<Record<string, 'no delete' | 'no edit' | 'scope' | 'ask'>>;
}

const deletes = ['CASCADE', 'CASCADE', 'CASCADE', 'SET NULL', 'SET NULL', 'NO ACTION', 'RESTRICT', 'SET DEFAULT'];
const updates = ['CASCADE', 'CASCADE', 'SET NULL', 'NO ACTION', 'RESTRICT'];

export function makeWorld(random: Random, dialect: Dialect): World {
  const tables: Table[] = [];
  const count = 4 + random.number(3);
  for (let at = 0; at < count; at++) tables.push(makeTable(random, dialect, tables, `t${at}`));
  // Junctions and cycles reference single-column keys, and a world may have no such key.
  const single = tables.filter(({ key }) => key.length === 1);
  if (single.length > 0 && random.chance(0.7)) tables.push(makePairs(random, single));
  if (random.chance(0.4)) {
    const [key] = makeKeys(random, dialect, tables, 1, 'w');
    const columns = [...(key?.columns ?? []).map((name) => ({ name, nullable: true })), { name: 'n', nullable: true }];
    tables.push({ name: 'keyless', key: [], columns, foreignKeys: key ? [key] : [], isPairs: false });
  }
  // A cycle: an earlier table references a later one.
  const [first, last] = [tables[0]!, single.at(-1)];
  const cycle: Key | null =
    dialect !== 'sqlite' && last && last !== first && random.chance(0.5)
      ? {
          columns: ['back'],
          target: last.name,
          targetColumns: last.key,
          onDelete: random.pick(['CASCADE', 'SET NULL']),
          onUpdate: 'NO ACTION',
        }
      : null;
  if (cycle)
    tables[0] = {
      ...first,
      columns: [...first.columns, { name: 'back', nullable: true }],
      foreignKeys: [...first.foreignKeys, cycle],
    };
  const hooked = random.chance(0.3) ? random.pick(tables.filter(({ key }) => key.length > 0)) : undefined;
  const triggered = random.pick(tables).name;
  const served = tables.filter(({ name, key, isPairs }) => key.length > 0 && !isPairs && name !== hooked?.name);
  const removed = served.length > 3 && random.chance(0.35) ? random.pick(served.slice(1)).name : null;
  const closed: Record<string, World['closed'][string]> = {};
  for (const { name, isPairs } of tables.filter(({ name }) => name !== removed))
    if (random.chance(0.24)) {
      const how = random.pick(['no delete', 'no edit', 'scope', 'ask', 'ask', 'ask'] as const);
      // The scope filters a column that junctions do not have.
      closed[name] = isPairs && how === 'scope' ? 'no delete' : how;
    }
  return {
    tables,
    statements: [
      ...tables.map((table) => createTable(table, cycle)),
      ...(cycle ? [`ALTER TABLE t0 ADD ${foreignKey(cycle)}`] : []),
      ...(hooked ? ['CREATE TABLE hook_log (id INTEGER NOT NULL PRIMARY KEY, told VARCHAR(40))'] : []),
      ...fill(random, tables, cycle),
      ...makeTriggers(dialect, triggered),
    ],
    hook: hooked ? { table: hooked.name, types: ['Create', 'Update', 'Delete'] } : null,
    ...{ triggered, removed, closed },
  };
}

function makeTriggers(dialect: Dialect, table: string): string[] {
  const write = "INSERT INTO trigger_log VALUES ('it', 1)";
  const body = {
    sqlite: `BEGIN ${write}; END`,
    mariadb: `FOR EACH ROW ${write}`,
    postgres: 'FOR EACH ROW EXECUTE FUNCTION log_it()',
  }[dialect];
  return [
    'CREATE TABLE trigger_log (told VARCHAR(9), n INTEGER)',
    ...(dialect === 'postgres'
      ? [
          `CREATE FUNCTION log_it() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN ${write.replaceAll("'", "''")}; RETURN NULL; END'`,
        ]
      : []),
    ...['INSERT', 'UPDATE', 'DELETE'].map((event) => `CREATE TRIGGER log_${event} AFTER ${event} ON ${table} ${body}`),
  ];
}

function makeTable(random: Random, dialect: Dialect, earlier: readonly Table[], name: string): Table {
  const foreignKeys = makeKeys(random, dialect, earlier, 1 + random.number(2), 'f');
  const isComposite = random.chance(0.3);
  // A foreign key may be part of the key.
  const inKey = isComposite
    ? foreignKeys.find(
        ({ columns, onDelete, onUpdate }) => columns.length === 1 && !/NULL|DEFAULT/.test(onDelete + onUpdate),
      )
    : undefined;
  const key = isComposite ? [inKey?.columns[0] ?? 'part', 'line'] : ['id'];
  if (!isComposite && random.chance(0.35))
    foreignKeys.push({
      columns: ['self'],
      target: name,
      targetColumns: ['id'],
      onDelete: random.pick(['CASCADE', 'SET NULL', 'NO ACTION']),
      onUpdate: dialect === 'mariadb' ? 'NO ACTION' : random.pick(['NO ACTION', 'CASCADE']),
    });
  const held = foreignKeys.flatMap(({ columns, onDelete, onUpdate }) =>
    columns.map((column) => ({
      name: column,
      nullable: !key.includes(column) && (/NULL|DEFAULT/.test(onDelete + onUpdate) || random.chance(0.6)),
    })),
  );
  const own = key.filter((column) => !held.some((each) => each.name === column));
  return {
    name,
    key,
    columns: [...own.map((column) => ({ name: column, nullable: false })), ...held, { name: 'n', nullable: true }],
    foreignKeys,
    isPairs: false,
  };
}

function makeKeys(random: Random, dialect: Dialect, earlier: readonly Table[], most: number, prefix: string): Key[] {
  const targets = earlier.filter(({ key, isPairs }) => key.length > 0 && !isPairs);
  if (targets.length === 0) return [];
  return Array.from({ length: most }, (_, at) => {
    const { name, key } = random.pick(targets);
    const onDelete = random.pick(dialect === 'mariadb' ? deletes.slice(0, -1) : deletes);
    const columns = key.map((_, part) => `${prefix}${at}${'ab'[part]}`);
    return { columns, target: name, targetColumns: key, onDelete, onUpdate: random.pick(updates) };
  });
}

function makePairs(random: Random, single: readonly Table[]): Table {
  const [one, other] = [random.pick(single), random.pick(single)];
  const pointer = (column: string, { name, key }: Table): Key => ({
    columns: [column],
    target: name,
    targetColumns: key,
    onDelete: random.pick(['CASCADE', 'CASCADE', 'NO ACTION']),
    onUpdate: random.pick(['CASCADE', 'NO ACTION']),
  });
  return {
    name: 'pairs',
    key: ['one', 'other'],
    columns: ['one', 'other'].map((name) => ({ name, nullable: false })),
    foreignKeys: [pointer('one', one), pointer('other', other)],
    isPairs: true,
  };
}

const foreignKey = ({ columns, target, targetColumns, onDelete, onUpdate }: Key): string =>
  `FOREIGN KEY (${columns.join(', ')}) REFERENCES ${target} (${targetColumns.join(', ')}) ON DELETE ${onDelete} ON UPDATE ${onUpdate}`;

function createTable({ name, key, columns, foreignKeys }: Table, cycle: Key | null): string {
  const parts = [
    ...columns.map((column) => `${column.name} INTEGER${column.nullable ? ' DEFAULT NULL' : ' NOT NULL'}`),
    ...(key.length ? [`PRIMARY KEY (${key.join(', ')})`] : []),
    ...foreignKeys.filter((each) => each !== cycle).map(foreignKey),
  ];
  return `CREATE TABLE ${name} (${parts.join(', ')})`;
}

/** Inserts in the order of the tables, so each foreign key finds its target. */
function fill(random: Random, tables: readonly Table[], cycle: Key | null): string[] {
  const rows = new Map<string, Record<string, number | null>[]>();
  const statements: string[] = [];
  for (const table of tables) {
    const made: Record<string, number | null>[] = [];
    rows.set(table.name, made);
    for (let at = 1; at <= 4 + random.number(6); at++) {
      const row: Record<string, number | null> = {};
      for (const { name } of table.columns) row[name] = name === 'n' ? random.number(12) : at;
      for (const { columns, target, targetColumns } of table.foreignKeys.filter((each) => each !== cycle)) {
        const there = rows.get(target)!;
        const mayBeNull = table.columns.some(({ name, nullable }) => nullable && columns.includes(name));
        const found = there.length === 0 || (mayBeNull && random.chance(0.25)) ? undefined : random.pick(there);
        for (const [part, column] of columns.entries()) {
          const { nullable } = table.columns.find(({ name }) => name === column)!;
          row[column] = found ? found[targetColumns[part]!]! : nullable ? null : -1;
        }
      }
      if (Object.values(row).includes(-1)) continue;
      if (cycle && table === tables[0]) row.back = null;
      const id = JSON.stringify(table.key.map((column) => row[column]));
      if (table.key.length && made.some((each) => JSON.stringify(table.key.map((column) => each[column])) === id))
        continue;
      made.push(row);
      const names = Object.keys(row);
      statements.push(
        `INSERT INTO ${table.name} (${names.join(', ')}) VALUES (${names.map((each) => row[each] ?? 'NULL').join(', ')})`,
      );
    }
  }
  if (cycle)
    for (const row of rows.get('t0') ?? []) {
      const there = rows.get(cycle.target)!;
      const [key] = tables[0]!.key;
      if (there.length && random.chance(0.6) && tables[0]!.key.length === 1)
        statements.push(
          `UPDATE t0 SET back = ${random.pick(there)[cycle.targetColumns[0]!]} WHERE ${key} = ${row[key!]}`,
        );
    }
  return statements;
}
