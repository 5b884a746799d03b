// Controls that choose a record by its name have the value that is stored: of a foreign key to another column than the
// key, and of a composite key.
import { beforeAll, expect, test } from 'vitest';
import { servers } from '../databases.ts';
import { createBrowser } from '../oauth/flow.ts';
import { startServer, type TestServer } from '../server.ts';
import { runSql } from '../sql/schemas.ts';

const sqlite = servers.find(({ dialect }) => dialect === 'sqlite');
let server: TestServer;
beforeAll(async () => {
  const database = await sqlite!.create();
  await runSql(database, [
    'create table countries (id integer primary key, code integer not null unique, name text not null)',
    "insert into countries values (1, 47, 'Norway'), (2, 46, 'Sweden')",
    'create table orders (id integer primary key, number text, country_code integer references countries (code))',
    "insert into orders values (1, 'A-1', 46)",
    'create table people (id integer not null primary key, name text not null)',
    'create table passports (number text not null primary key, person_id integer not null unique references people (id))',
    "insert into people values (7, 'Ada')",
    "insert into passports values ('P-7', 7)",
    'create table shelves (hall integer not null, place text not null, name text not null, primary key (hall, place))',
    "insert into shelves values (1, 'a', 'Screws'), (2, 'b|c', 'Nails')",
  ]);
  server = await startServer({ database: database.url });
  return async () => {
    await server.stop();
    await database.drop();
  };
});

async function open(page: string) {
  const browser = createBrowser();
  const first = await browser.open(server.consoleUrl + page);
  return browser.press(first, 'sign-in', { ...server.account });
}

/** The values of a select, with the texts. */
function choicesOf(html: string, name: string): readonly (readonly [value: string, text: string])[] {
  const select = new RegExp(`<select[^>]* name="${name.replaceAll('.', '\\.')}"[^>]*>(.*?)</select>`, 's').exec(html);
  return [...(select?.[1] ?? '').matchAll(/<option value="([^"]*)"[^>]*>([^<]*)</g)].map((each) => [
    each[1]!,
    each[2]!,
  ]);
}

test('a foreign key to a unique column is chosen by name, and has the value of that column', async () => {
  const choices = [
    ['47', 'Norway'],
    ['46', 'Sweden'],
  ];
  const created = await open('/create/orders');
  expect(choicesOf(created.html, 'value.country_code')).toEqual([['', 'None'], ...choices]);
  const edited = await open('/data/orders/1/edit');
  expect(edited.html).toContain('<option value="46" selected>Sweden');
});

test('a key is typed, also where records of another collection refer to it', async () => {
  const { html } = await open('/create/people');
  expect(choicesOf(html, 'value.id')).toEqual([]);
  expect(html).toMatch(/<input[^>]* name="value\.id"/);
});

test('a workflow is started and tried on a record with a composite key, chosen by its name', async () => {
  const { id: by } = (await server.store.identity.findUserByEmail(server.account.email))!;
  const { renderingId } = (await server.store.permissions.caller(by))!;
  const [name, collection] = ['Count', 'shelves'];
  const steps = [{ id: 'count', type: 'guidance', text: 'Count {{record.name}}.' }];
  const definition = JSON.stringify({ name, collection, steps });
  const { id } = await server.store.workflows.publish({
    renderingId,
    collection,
    concurrency: null,
    by,
    name,
    definition,
  });
  const choices = [
    ['', 'Choose'],
    ['1|a', 'Screws'],
    ['2|b\\|c', 'Nails'],
  ];
  for (const page of [`/workflows/${id}`, `/workflows/${id}/try`])
    expect(choicesOf((await open(page)).html, 'record'), page).toEqual(choices);
  const tried = await open(`/workflows/${id}/try?${new URLSearchParams({ record: '2|b\\|c' })}`);
  expect(tried.html).toContain('Count Nails.');
});
