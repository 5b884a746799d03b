// Inputs that are meant to use much time or memory on the server. Each is one or more tool calls.
import type { Dialect } from '../../databases.ts';

export interface Shape {
  readonly name: string;
  /** The arguments of `list` or `aggregate` for each call. All calls run concurrently. */
  readonly calls: readonly (readonly ['list' | 'aggregate', Record<string, unknown>])[];
}

const MEGABYTE = 1_000_000;
/** Not periodic, so a matcher that caches its states meets a new state at each character. */
const noise = (() => {
  let state = 1;
  const next = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return 'ab'[(state >>> 16) & 1]!;
  };
  return Array.from({ length: MEGABYTE }, next).join('');
})();
const words = 'to be or not to be that is the question whether tis nobler in the mind to suffer ';

/** Texts of a thousand characters, cells of one and ten megabytes, deep documents, and a wide table. */
export function tablesOf(dialect: Dialect): readonly string[] {
  const long = dialect === 'mariadb' ? 'longtext' : 'text';
  const json = dialect === 'postgres' ? 'jsonb' : 'json';
  const times = (text: string, count: number) =>
    dialect === 'sqlite' ? `replace(hex(zeroblob(${count / 2})), '0', '${text}')` : `repeat('${text}', ${count})`;
  const note = words.repeat(13).slice(0, 1000);
  const numbers = {
    sqlite:
      "with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 20000) select n, n % 97, date('2020-01-01', (n % 1500) || ' days') from numbers",
    mariadb: "select seq, seq % 97, date_add('2020-01-01', interval (seq % 1500) day) from seq_1_to_20000",
    postgres: "select n, n % 97, date '2020-01-01' + n % 1500 from generate_series(1, 20000) as numbers (n)",
  }[dialect];
  const wide = Array.from({ length: 300 }, (_, at) => `a_long_name_of_the_column_${at}`);
  // MariaDB allows 32 levels.
  const levels = dialect === 'mariadb' ? 15 : 40;
  const deep = `${'{"a":['.repeat(levels)}1${']}'.repeat(levels)}`;
  return [
    'create table people (id integer primary key, name varchar(50))',
    ...Array.from({ length: 100 }, (_, at) => `insert into people values (${at + 1}, 'person ${at}')`),
    `create table notes (id integer primary key, body ${long}, at_time timestamp)`,
    ...Array.from({ length: 300 }, (_, at) => `insert into notes values (${at + 1}, '${note}', '2024-05-06 07:08:09')`),
    `create table memos (id integer primary key, body ${long})`,
    ...Array.from(
      { length: 30 },
      (_, at) =>
        `insert into memos values (${at + 1}, ${times(at % 2 ? 'a' : 'ab', at % 2 ? MEGABYTE : MEGABYTE / 2)})`,
    ),
    `create table noises (id integer primary key, body ${long})`,
    `insert into noises values (1, '${noise}')`,
    `create table files (id integer primary key, body ${long})`,
    ...[1, 2, 3].map((id) => `insert into files values (${id}, ${times('a', 10 * MEGABYTE)})`),
    `create table documents (id integer primary key, body ${json})`,
    ...Array.from(
      { length: 50 },
      (_, at) => `insert into documents values (${at + 1}, '[${Array(200).fill(deep).join(',')}]')`,
    ),
    'create table marks (id integer primary key, kind integer, day date)',
    `insert into marks ${numbers}`,
    `create table wide (id integer primary key, ${wide.map((name) => `${name} ${dialect === 'mariadb' ? 'char(1)' : 'varchar(10)'}`).join(', ')})`,
    ...Array.from({ length: 50 }, (_, at) => `insert into wide (id, ${wide[0]}) values (${at + 1}, 'x')`),
  ];
}

const leaf = (field: string, operator: string, value: unknown) => ({ field, operator, value });
const any = (conditions: readonly unknown[]) => ({ aggregator: 'Or', conditions });
const list = (collectionName: string, more: object = {}): Shape['calls'][number] => [
  'list',
  { collectionName, ...more },
];
const filtered = (collectionName: string, filters: unknown, more: object = {}) =>
  list(collectionName, { filters, fields: ['id'], ...more });
const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const one = (name: string, call: Shape['calls'][number], count = 4): Shape => ({
  name,
  calls: Array(count).fill(call),
});
const aggregate = (more: object): Shape['calls'][number] => [
  'aggregate',
  { collectionName: 'notes', operation: 'Count', ...more },
];
const analysis = (more: object) => ({
  collectionName: 'marks',
  measures: {
    marks: { count: true },
    kinds: { sum: 'kind' },
    part: { share: 'kinds' },
    'so far': { running: 'marks' },
  },
  groups: ['kind', { field: 'day', bucket: 'Day' }],
  sort: [{ group: 1 }, { group: 0 }],
  limit: 1000,
  ...more,
});
const nested = (depth: number): unknown => {
  let filter: unknown = leaf('id', 'Equal', 1);
  for (let at = 0; at < depth; at++) filter = { aggregator: 'And', conditions: [filter] };
  return filter;
};
const spell = (zone: string, at: number): string =>
  [...zone].map((letter, place) => ((at >> (place % 12)) & 1 ? letter.toUpperCase() : letter.toLowerCase())).join('');
const page = { pagination: { size: 1000 } };

export const shapes: readonly Shape[] = [
  one('Match with many repetitions over texts', filtered('notes', leaf('body', 'Match', 't[a-z ]{0,900}[0-9]'))),
  one('Match with many repetitions over cells of 1 MB', filtered('memos', leaf('body', 'Match', '(?:a[ab]{0,900})[cd]'))),
  one('Match of many states over noise', filtered('noises', leaf('body', 'Match', '(?:a[ab]{0,900})[cd]'))),
  one('Match that is negated', filtered('memos', { aggregator: 'Not', conditions: [leaf('body', 'Match', '(?:a[ab]{0,900})[cd]')] })),
  one('ten of Match', filtered('memos', any(times(10, (at) => leaf('body', 'Match', `a[ab]{0,150}${at}`))))),
  one('Match over cells of 10 MB', filtered('files', leaf('body', 'Match', 'a[a-z]{0,900}b'))),
  one('Match, and how many there are', filtered('notes', leaf('body', 'Match', '[a-z ]{500}[0-9]'), { enableCount: true })),
  one('Match of nested repetitions', filtered('memos', leaf('body', 'Match', '(?:(?:a+)+b?)+c'))),
  one('Match that is too large', filtered('notes', leaf('body', 'Match', 'a{0,990}'.repeat(120)))),
  one('Match of five hundred classes', filtered('notes', any(times(500, () => leaf('body', 'Match', '\\pL'.repeat(15)))))),
  one('a long Like', filtered('memos', leaf('body', 'Like', `%${'a'.repeat(4900)}b%`))),
  one('a long ILike', filtered('memos', leaf('body', 'ILike', `%${'A'.repeat(4900)}b%`))),
  one('a long Contains', filtered('memos', leaf('body', 'Contains', `b${'a'.repeat(4900)}`))),
  one('a long IContains', filtered('memos', leaf('body', 'IContains', `b${'A'.repeat(4900)}`))),
  one('a long NotIContains', filtered('memos', leaf('body', 'NotIContains', `b${'A'.repeat(4900)}`))),
  one('a Like of many parts', filtered('memos', leaf('body', 'Like', `${'%a_b'.repeat(1000)}%c`))),
  one('a Like of 50,001 characters', filtered('memos', leaf('body', 'Like', 'a'.repeat(50_001)))),
  one('an IContains of 50,001 characters', filtered('memos', leaf('body', 'IContains', 'a'.repeat(50_001)))),
  one('a hundred of ILike', filtered('notes', any(times(100, (at) => leaf('body', 'ILike', `%${at}%x_y%`))))),
  one('five hundred of IContains over cells of 1 MB', filtered('memos', any(times(500, (at) => leaf('body', 'IContains', `${at}xy`))))),
  one('a search of 16 words', list('notes', { search: times(16, (at) => `word${at}`).join(' ') })),
  one('a search of 900 letters', list('memos', { search: 'ab'.repeat(450), fields: ['id'] })),
  one('thirty cells of 1 MB', list('memos', page)),
  one('thirty cells of 1 MB as records', list('memos', { ...page, format: 'records' })),
  one('a cell of 1 MB from its middle', list('memos', { filters: leaf('id', 'Equal', 1), cells: { body: 500_000 } })),
  one('three cells of 10 MB', list('files', page)),
  one('a cell of 10 MB by its key', list('files', { filters: leaf('id', 'Equal', 1) })),
  one('cells of 1 MB sorted', list('memos', { sort: { field: 'body' }, fields: ['id'] })),
  one('cells of 1 MB as groups', ['aggregate', { collectionName: 'memos', operation: 'Count', groups: ['body'] }]),
  one('measures of many groups', ['aggregate', analysis({ groups: ['id', { field: 'day', bucket: 'Day' }] })]),
  one('measures of many groups, with empty groups', ['aggregate', analysis({ includeEmpty: true, compare: { previous: 1 } })]),
  one('documents of many levels', list('documents', page)),
  one('every column of a wide table', list('wide', page)),
  one('the same name 100,000 times', list('notes', { fields: Array(100_000).fill('id') })),
  one('the same name 100,000 times in a text', list('notes', { fields: Array(100_000).fill('body').join(',') })),
  one('a thousand wrong names', list('wide', { fields: times(1000, (at) => `a_long_nome_${at}`) })),
  one('five hundred conditions on wrong names', filtered('wide', any(times(500, (at) => leaf(`a_long_nome_${at}`, 'Equal', 'x'))))),
  one('three thousand sorts', list('notes', { sort: times(3000, (at) => ({ field: at % 2 ? 'id' : 'body' })) })),
  { name: 'two hundred spellings of a timezone', calls: times(200, (at) => aggregate({ timezone: spell('africa/casablanca', at), groups: [{ field: 'at_time', bucket: 'day' }] })) },
  { name: 'fifty unknown timezones', calls: times(50, (at) => list('notes', { timezone: `Nowhere/City${at}` })) },
  one('a filter of 60 levels', filtered('notes', nested(30))),
  one('a filter of 5,000 levels as a text', filtered('notes', `${'{"aggregator":"And","conditions":['.repeat(5000)}${']}'.repeat(5000)}`)),
  one('ten thousand conditions', filtered('notes', any(times(10_000, (at) => leaf('id', 'Equal', at))))),
  one('a hundred thousand values', filtered('notes', leaf('id', 'In', times(100_000, (at) => at)))),
  one('nine thousand values that are there', filtered('notes', leaf('id', 'In', times(9000, (at) => at)))),
  one('thirty lists of Match at once', filtered('memos', leaf('body', 'Match', '(?:a[ab]{0,900})[cd]')), 30),
  one('thirty lists of a long Like at once', filtered('memos', leaf('body', 'Like', `%${'a'.repeat(4900)}b%`)), 30),
]; // biome-ignore format: a table
