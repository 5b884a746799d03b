// Controls that choose a record by its name have the value that is stored: of a foreign key to another column than the
// key, of a foreign key of several columns, and of a composite key.
import { beforeAll, expect, test } from 'vitest';
import { servers, type TestDatabase } from '../databases.ts';
import { createBrowser } from '../oauth/flow.ts';
import { startServer, type TestServer } from '../server.ts';
import { askSql, runSql } from '../sql/schemas.ts';

const sqlite = servers.find(({ dialect }) => dialect === 'sqlite');
let server: TestServer;
let database: TestDatabase;
beforeAll(async () => {
  database = await sqlite!.create();
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
    `create table boxes (id integer not null primary key, label text not null, at_place text, in_hall integer,
      foreign key (at_place, in_hall) references shelves (place, hall))`,
    "insert into boxes values (1, 'Box 1', 'a', 1), (2, 'Box 2', null, null)",
    'create table halls (id integer not null primary key, name text not null)',
    `create table keys (id integer not null primary key, label text not null, hall integer references halls (id),
      place text, foreign key (hall, place) references shelves (hall, place))`,
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

test('a foreign key of several columns is chosen by name, and its columns have the values of that record', async () => {
  const stored = (id: number) => askSql(database, `select in_hall, at_place from boxes where id = ${id}`);
  const browser = createBrowser();
  const first = await browser.open(`${server.consoleUrl}/data/boxes/1/edit`);
  const page = await browser.press(first, 'sign-in', { ...server.account });
  const choices = [
    ['', 'None'],
    ['a|1', 'Screws'],
    ['b\\|c|2', 'Nails'],
  ];
  const control = /name="(choice\.[^"]+)"/.exec(page.html)?.[1] ?? '';
  expect(choicesOf(page.html, control)).toEqual(choices);
  expect(page.html).toContain('<option value="a|1" selected>Screws');
  expect(page.html).not.toMatch(/name="value\.(in_hall|at_place)"/);
  const preview = await browser.press(page, 'review', { [control]: 'b\\|c|2' });
  const again = await browser.press(preview, 'edit', {});
  expect(again.html).toContain('<option value="b\\|c|2" selected>Nails');
  await browser.press(await browser.press(again, 'review', {}), 'confirm', {});
  expect(await stored(1)).toEqual([{ in_hall: 2, at_place: 'b|c' }]);

  const unchanged = await browser.press(await browser.open(page.url), 'review', { 'value.label': 'Box one' });
  expect(unchanged.html).not.toMatch(/>\s*(in_hall|at_place)\s*</);
  const create = await browser.open(`${server.consoleUrl}/create/boxes`);
  expect(choicesOf(create.html, control)).toEqual(choices);
  const created = await browser.press(create, 'review', { 'value.label': 'Box 3', [control]: 'a|1' });
  await browser.press(created, 'confirm', {});
  expect(await stored(3)).toEqual([{ in_hall: 1, at_place: 'a' }]);
});

test('a column of two foreign keys is chosen by the single one, and the other columns are typed', async () => {
  const { html } = await open('/create/keys');
  expect(html).toMatch(/<select[^>]* name="value\.hall"/);
  expect(html).toMatch(/<(input|textarea)[^>]* name="value\.place"/);
  expect(html).not.toContain('choice.');
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
