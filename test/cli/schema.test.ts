// `portico schema`: writes the schema file and compares it in CI, for a served database and for an agent of a module.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { compareSchemas } from '../../src/agent/artifacts/schema-diff.ts';
import type { SchemaFile } from '../../src/agent/artifacts/schema-file.ts';
import { loadSqliteDriver } from '../../src/core/sqlite.ts';
import { findJsonFault } from '../../src/server/agent/json-fault.ts';
import { buildOnce, makePlace, type Place, portico } from './command.ts';

beforeAll(() => buildOnce());

let place: Place;
beforeEach(() => {
  place = makePlace();
  run('CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL)');
});
afterEach(() => place.remove());

/** Runs SQL on the served database. */
function run(sql: string): void {
  const database = new (loadSqliteDriver().driver)(join(place.folder, 'shop.sqlite'));
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}

const file = () => join(place.folder, '.service-schema.json');
const schema = (...args: string[]) =>
  portico(['schema', ...args, '--database', 'sqlite:shop.sqlite'], { folder: place.folder });

test('reload requests a reload from the servers of the storage', async () => {
  const { code, stdout } = await portico(['schema', 'reload'], { folder: place.folder });
  expect([code, stdout]).toEqual([
    0,
    'Every server of this storage reads its tables again within ten seconds. Its log names problems.\n',
  ]);
});

describe('with a database', () => {
  test('check passes after write, and lists the differences once the database or the code changes', async () => {
    expect(await schema('write')).toMatchObject({ code: 0, stdout: 'The schema file is written.\n', stderr: '' });
    expect(JSON.parse(readFileSync(file(), 'utf8')).collections.map(({ name }: { name: string }) => name)).toEqual([
      'customers',
    ]);
    expect(await schema('check')).toEqual({
      code: 0,
      stdout: 'The schema file matches the served schema.\n',
      stderr: '',
    });
    run('ALTER TABLE customers ADD COLUMN e_mail TEXT');
    run('CREATE TABLE customers_old (id INTEGER PRIMARY KEY)');
    writeFileSync(
      join(place.folder, 'portico.config.mjs'),
      "export default (agent) => agent.customizeCollection('customers', (it) => it.addSegment('named', { field: 'name', operator: 'Present' }).disableSearch());",
    );
    const before = readFileSync(file(), 'utf8');
    const { code, stdout } = await schema('check');
    expect([code, stdout.split('\n')]).toEqual([
      1,
      [
        "field 'e_mail' of collection 'customers': is served, but not in the file.",
        "collection 'customers': isSearchable is false, but true in the file.",
        "segment 'named' of collection 'customers': is served, but not in the file.",
        "collection 'customers_old': is served, but not in the file. Near: customers.",
        '',
        '4 differences. If this is intended: portico schema write, and commit the file.',
        '',
      ],
    ]);
    // The check does not write the file or create a storage.
    expect(readFileSync(file(), 'utf8')).toBe(before);
    expect(existsSync(join(place.folder, '.portico', 'portico.sqlite'))).toBe(false);
    await schema('write');
    expect((await schema('check')).code).toBe(0);
  });

  test('a missing, broken or foreign file gives exit code 2, with the position and what to do', async () => {
    const missing = await schema('check');
    expect([missing.code, missing.stdout]).toEqual([2, '']);
    expect(missing.stderr).toMatch(/^portico: the schema file .*\.service-schema\.json cannot be read; write it with/);
    writeFileSync(file(), '{\n  "collections": [\n    oops\n');
    const broken = await schema('check');
    expect([broken.code, broken.stderr]).toEqual([
      2,
      expect.stringMatching(/is not valid JSON at line 3, column 5; write it/),
    ]);
    writeFileSync(file(), '{"collections":');
    expect((await schema('check')).stderr).toMatch(/is not valid JSON at line 1, column 16/);
    for (const text of ['[]', '{"collections":[{"name":1}]}', 'null']) {
      writeFileSync(file(), text);
      expect([(await schema('check')).code, text]).toEqual([2, text]);
    }
  });

  test('an unreachable database or an unknown option gives exit code 2', async () => {
    const gone = await portico(['schema', 'check', '--database', 'postgres://127.0.0.1:9/none'], {
      folder: place.folder,
    });
    expect([gone.code, gone.stdout]).toEqual([2, '']);
    expect((await schema('check', '--fiel', 'x')).code).toBe(2);
  });

  test('--file sets another path', async () => {
    await schema('write', '--file', 'other.json');
    expect([existsSync(file()), existsSync(join(place.folder, 'other.json'))]).toEqual([false, true]);
    expect((await schema('check', '--file', 'other.json')).code).toBe(0);
  });
});

describe('with a module', () => {
  const agentModule = (rest: string) => {
    const path = join(place.folder, 'agent.mjs');
    const library = pathToFileURL(resolve('dist/index.js')).href;
    writeFileSync(
      path,
      `import { createAgent, createSqlDataSource } from '${library}';
export const agent = createAgent({ authSecret: 'a', envSecret: 'b', schemaPath: 'mine.json', isProduction: true })
  .addDataSource(createSqlDataSource('sqlite:shop.sqlite'), { rename: { customers: 'people' } })${rest};\n`,
    );
    return path;
  };
  const ofModule = (command: string, path: string) =>
    portico(['schema', command, '--agent', path], { folder: place.folder });

  test('the schema of an agent that is not started is written and checked', async () => {
    const path = agentModule('');
    expect(await ofModule('write', path)).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(join(place.folder, 'mine.json'), 'utf8')).toContain('"name": "people"');
    expect((await ofModule('check', path)).code).toBe(0);
    agentModule(".customizeCollection('people', (it) => it.removeField('name'))");
    expect(await ofModule('check', path)).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^field 'name' of collection 'people': is in the file, but not served\.\n/),
    });
  });

  test('a module that is missing, fails to load or exports no agent gives exit code 2', async () => {
    const path = join(place.folder, 'agent.mjs');
    expect(await ofModule('check', path)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('does not exist'),
    });
    writeFileSync(path, 'throw new Error("no luck");');
    expect(await ofModule('check', path)).toMatchObject({ code: 2, stderr: expect.stringContaining('no luck') });
    writeFileSync(path, 'export const agent = {};');
    expect(await ofModule('check', path)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('must export the agent'),
    });
  });
});

test.each([
  ['', 1, 1],
  ['{"a": 1', 1, 8],
  ['{"a" 1}', 1, 6],
  ['{"a": 1,}', 1, 9],
  ['[1, 2,]', 1, 7],
  ['[1 2]', 1, 4],
  ['{a: 1}', 1, 2],
  ['[01]', 1, 2],
  ['["a\nb"]', 1, 2],
  ['{"a": [1}\n', 1, 9],
  ['{"a": 1}\n\n  x', 3, 3],
  ['[tru]', 1, 2],
  ['<<<<<<< HEAD\n{}', 1, 1],
])('the JSON error in %j is at line %i, column %i', (text, line, column) => {
  expect(() => JSON.parse(text)).toThrow();
  expect(findJsonFault(text)).toEqual({ line, column });
});

describe('differences', () => {
  const of = (...collections: object[]) => ({ collections, meta: {} }) as unknown as SchemaFile;
  const lines = (known: SchemaFile, now: SchemaFile) => compareSchemas(known, now).map(({ line }) => line);

  test('ignore the order of keys and the metadata', () => {
    const now = { ...of({ name: 'a', fields: [{ field: 'x', type: 'String' }] }), meta: { version: 2 } };
    expect(lines(of({ fields: [{ type: 'String', field: 'x' }], name: 'a' }), now)).toEqual([]);
  });

  test('show the similar name of a renamed field, and truncate long values', () => {
    const long = Array.from({ length: 40 }, (_, at) => `word ${at}`);
    expect(
      lines(
        of({ name: 'a', fields: [{ field: 'city' }, { field: 'kind', enums: [] }] }),
        of({ name: 'a', fields: [{ field: 'citi' }, { field: 'kind', enums: long }] }),
      ),
    ).toEqual([
      "field 'citi' of collection 'a': is served, but not in the file. Near: city.",
      "field 'city' of collection 'a': is in the file, but not served. Near: citi.",
      expect.stringMatching(
        /^field 'kind' of collection 'a': enums is \["word 0",.{10,70}\.\.\., but \[\] in the file\.$/,
      ),
    ]);
  });

  test('include the order of actions, which is part of their URLs', () => {
    const [one, two] = [{ name: 'One' }, { name: 'Two' }];
    expect(
      lines(of({ name: 'a', fields: [], actions: [one, two] }), of({ name: 'a', fields: [], actions: [two, one] })),
    ).toEqual(["collection 'a': its actions are in a different order."]);
  });
});
