// Typings are small, reliable, and fast to compile, even with many tables.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Agent, MemoryTable } from '../../src/index.ts';
import { createMemoryDataSource } from '../../src/index.ts';
import { emptyAgent, makeFolder } from '../app/agent.ts';
import { typedShop } from '../types/typed-shop.ts';

function customizeTypedShop(agent: Agent): Agent {
  return agent.addDataSource(typedShop()).customizeCollection('orders', (orders) =>
    orders
      .addField('summary', { columnType: 'String', dependencies: ['id'], getValues: (records) => records.map(String) })
      .importField('city', { path: 'customer:city' })
      .addField('parcel', {
        columnType: { size: ['Number'], to: { street: 'String', 'post code': 'String' }, isSent: 'Boolean' },
        dependencies: ['id'],
        getValues: (records) => records.map(() => null),
      })
      .renameField('total', 'sum'),
  );
}

/** Tables that each point to two others, 25 columns wide. */
const wide = (count: number): MemoryTable[] =>
  Array.from({ length: count }, (_, at) => ({
    name: `wide_table_${at}`,
    columns: [
      { name: 'id', type: 'Number' },
      { name: 'before_id', type: 'Number', nullable: true },
      { name: 'half_id', type: 'Number', nullable: true },
      ...Array.from({ length: 22 }, (_, place) => ({
        name: `some_column_${place}`,
        type: (['String', 'Number', 'Date', 'Boolean'] as const)[place % 4]!,
        nullable: place % 3 === 0,
      })),
    ],
    primaryKey: ['id'],
    foreignKeys: [
      { columns: ['before_id'], table: `wide_table_${Math.max(0, at - 1)}`, targetColumns: ['id'] },
      { columns: ['half_id'], table: `wide_table_${Math.floor(at / 2)}`, targetColumns: ['id'] },
    ],
    rows: [],
  }));

test('the generated typings equal those of the type tests', async () => {
  const path = join(makeFolder(), 'typings.ts');
  const { agent } = emptyAgent();
  await customizeTypedShop(agent).updateTypesOnFileSystem(path, 2);
  expect(readFileSync(path, 'utf8')).toBe(readFileSync('test/types/typed-shop-typings.ts', 'utf8'));
});

test('a file is rewritten only if its text changes', async () => {
  const path = join(makeFolder(), 'typings.ts');
  const { agent } = emptyAgent();
  agent.addDataSource(typedShop());
  const changes: boolean[] = [];
  for (const depth of [5, 5, 4]) {
    const before = statSync(path, { throwIfNoEntry: false })?.ino;
    await agent.updateTypesOnFileSystem(path, depth);
    changes.push(statSync(path).ino !== before);
  }
  expect(changes).toEqual([true, false, true]);
});

test('names and enum values with special characters stay within their literals', async () => {
  const folder = makeFolder();
  const name = 'a\'b"c`d\\e\u2028*/ $f';
  const { agent } = emptyAgent();
  const columns = [
    { name: 'id', type: 'Number' },
    { name, type: 'Enum', enumValues: [name, '*/'] },
  ] as const;
  agent.addDataSource(createMemoryDataSource('odd', [{ name, columns, primaryKey: ['id'], rows: [] }]));
  await agent.updateTypesOnFileSystem(join(folder, 'typings.ts'), 5);
  const code = `import type { Schema } from './typings.ts';\nconst value: keyof Schema = ${JSON.stringify(name)};\nexport const same: Schema[typeof value]['columns'][typeof value]['Enum'] = value;\n`;
  expect(compile(folder, code)).toBe('');
});

// Compile time depends on the load of the machine; the number of types that the compiler creates does not. Our own
// sources need 1.3 million, and 6 million take about 5 s on two cores.
test('the typings of 300 tables with 25 columns take under 2 MB and are cheap to compile', async () => {
  const { agent, logged } = emptyAgent();
  const folder = resolve('node_modules', `.typings-${process.pid}`);
  mkdirSync(folder);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'typings.ts');
  await agent.addDataSource(createMemoryDataSource('wide', wide(300))).updateTypesOnFileSystem(path, 5);
  const bytes = statSync(path).size;
  const uses = Array.from(
    { length: 20 },
    (_, at) => `
agent.customizeCollection('wide_table_${200 + at}', (each) =>
  each
    .addField('x', {
      columnType: 'String',
      dependencies: ['some_column_0', 'before:some_column_4', 'half:before:some_column_1'],
      getValues: (records) => records.map((record) => record.before?.some_column_4 ?? null),
    })
    .addSegment('y', { field: 'half:some_column_2', operator: 'PreviousMonth' })
    .replaceFieldOperator('some_column_0', 'Equal', (value) => ({ field: 'before:id', operator: 'Equal', value: Number(value) })),
);`,
  );
  const code = `import { createAgent } from '${resolve('src/index.ts')}';\nimport type { Schema } from './typings.ts';\nconst agent = createAgent<Schema>({ authSecret: 'a', envSecret: 'b' });\n${uses.join('\n')}\n`;
  const output = compile(folder, code, '--extendedDiagnostics');
  const measured = (name: string) => Number(new RegExp(`^${name}: +([0-9.]+)`, 'm').exec(output)?.[1]);
  const instantiations = measured('Instantiations');
  const seconds = measured('Check time');
  console.info(`300 tables: ${bytes} bytes of typings; ${instantiations} types instantiated in ${seconds} s`);
  expect(output).not.toContain('error');
  expect([bytes < 2_000_000, instantiations < 7_000_000, logged]).toEqual([true, true, expect.any(Array)]);
}, 120_000);

test('with too many paths, the typings follow fewer relations, and a warning is logged', async () => {
  const { agent, folder, logged } = emptyAgent();
  const path = join(folder, 'typings.ts');
  const self = (at: number) => ({ columns: [`up_${at}_id`], table: 'tree', targetColumns: ['id'] });
  const columns = ['id', ...Array.from({ length: 9 }, (_, at) => `up_${at}_id`)];
  agent.addDataSource(
    createMemoryDataSource('tree', [
      {
        name: 'tree',
        columns: columns.map((name) => ({ name, type: 'Number', nullable: name !== 'id' })),
        primaryKey: ['id'],
        foreignKeys: Array.from({ length: 9 }, (_, at) => self(at)),
        rows: [],
      },
    ]),
  );
  await agent.updateTypesOnFileSystem(path, 5);
  expect([readFileSync(path, 'utf8').includes('depth: 2;'), logged]).toEqual([
    true,
    [['Warn', "Typings: paths of 'tree' follow 2 relations instead of 5, to limit their number."]],
  ]);
});

test.each([
  [1000, 5, []],
  [1001, 0, [['Warn', "Typings: paths of 'orders' follow 0 relations instead of 5, to limit their number."]]],
])('2,000 paths are not too many, and relations to many do not count: with %s columns behind a relation they follow %s relations', async (count, depth, warnings) => {
  const { agent, folder, logged } = emptyAgent();
  const path = join(folder, 'typings.ts');
  const table = (name: string, keys: readonly string[], columns: number, more: Partial<MemoryTable>): MemoryTable => ({
    name,
    columns: [...keys, ...Array.from({ length: columns - keys.length }, (_, at) => `column_${at}`)].map((each) => ({ name: each, type: 'Number' as const })),
    primaryKey: ['id'],
    rows: [],
    ...more,
  });
  const foreignKeys = [{ columns: ['buyer_id'], table: 'buyers', targetColumns: ['id'] }];
  const tables = [table('orders', ['id', 'buyer_id'], 1000, { foreignKeys }), table('buyers', ['id'], count, {})];
  agent.addDataSource(createMemoryDataSource('shop', tables));
  await agent.updateTypesOnFileSystem(path, 5);
  expect([readFileSync(path, 'utf8').match(/depth: \d/g), logged]).toEqual([['depth: 5', `depth: ${depth}`], warnings]);
}); // biome-ignore format: short

test('a folder as the path of the file is refused with the name of the option', async () => {
  const { agent, folder } = emptyAgent();
  const path = join(folder, 'typings.ts');
  mkdirSync(path);
  agent.addDataSource(typedShop());
  await expect(agent.updateTypesOnFileSystem(path, 5)).rejects.toThrow(
    `typingsPath: ${path} is not a file. Set the path of a file.`,
  );
});

/** The tsc errors of a file that uses the typings; empty if it compiles. */
function compile(folder: string, code: string, ...options: string[]): string {
  writeFileSync(join(folder, 'use.ts'), code);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const settings = JSON.parse(readFileSync('tsconfig.json', 'utf8')) as { compilerOptions: Record<string, unknown> };
  const compilerOptions = { ...settings.compilerOptions, typeRoots: [resolve('node_modules/@types')] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
  try {
    const args = [resolve('node_modules/typescript/bin/tsc'), '-p', folder, ...options];
    return execFileSync(process.execPath, args, { encoding: 'utf8' });
  } catch (error) {
    return String((error as { stdout?: string }).stdout || error);
  }
}
