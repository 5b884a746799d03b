// Comments cite sections of docs/reference/behaviour.md, as "behaviour 2.7" or "behaviour api 5, 4". Each cited section
// is there, and so is each section of the ledger.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { rows } from './spec/ledger/rows.ts';

/** The text of each section, by its number. */
const sections = new Map(
  readFileSync('docs/reference/behaviour.md', 'utf8')
    .split(/^## /m)
    .slice(1)
    .map((section) => [/^(?:api )?[\d.]+/.exec(section)?.[0] ?? section, section]),
);

const files = ['src', 'test'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => `${folder}/${path.replaceAll('\\', '/')}`),
);

interface Citation {
  readonly file: string;
  readonly section: string;
  readonly item?: string;
}

/** A section, an item of its numbered list, and one more section: `api 5, 4`, `api 5 and 7.1`, `2.9, with 4.7`. */
const citation = /\bbehaviour (api )?(\d+(?:\.\d+)?)(?:, (\d+)\b(?!\.\d))?(?:(?: and| to|, with) (\d+(?:\.\d+)?))?/gi;

function findCitations(file: string, text: string): Citation[] {
  return [...text.matchAll(citation)].flatMap(([, api = '', first, item, second]) => [
    { file, section: `${api}${first}`, ...(item && { item }) },
    ...(second ? [{ file, section: `${api}${second}` }] : []),
  ]);
}

const citations = files
  .filter((file) => file !== 'test/docs-behaviour.test.ts')
  .flatMap((file) => findCitations(file, readFileSync(file, 'utf8')));

test('every cited section and item exists', () => {
  expect(citations.length).toBeGreaterThan(50);
  const isThere = ({ section, item }: Citation) =>
    item === undefined ? sections.has(section) : sections.get(section)?.includes(`\n${item}. `);
  expect(citations.filter((one) => !isThere(one))).toEqual([]);
});

test('a citation of two sections, and of an item, is parsed', () => {
  expect(findCitations('a.ts', '(behaviour 4.4 and 7). Behaviour api 5, 4: x. Behaviour 2.9, with 4.7')).toEqual([
    { file: 'a.ts', section: '4.4' },
    { file: 'a.ts', section: '7' },
    { file: 'a.ts', section: 'api 5', item: '4' },
    { file: 'a.ts', section: '2.9' },
    { file: 'a.ts', section: '4.7' },
  ]);
});

test('every section of the ledger exists', () => {
  const ledger = new Set(rows.map(({ section }) => section).filter((section) => section !== 'decisions'));
  expect(ledger.size).toBeGreaterThan(30);
  expect([...ledger].filter((section) => !sections.has(section))).toEqual([]);
});

test('no file cites the specification, which is not in the repository', () => {
  const old = /\bspec (?:public-http-api )?\d/i;
  expect(files.filter((file) => !file.startsWith('test/spec/ledger') && old.test(readFileSync(file, 'utf8')))).toEqual(
    [],
  );
});
