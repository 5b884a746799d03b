// The documentation says what is so: its tables are tied to the tables of the code, both ways; its links lead somewhere;
// and its code blocks that are marked `run` are run as a reader would run them.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createEngineAgent } from '../src/agent/agent.ts';
import { createSqlDataSource } from '../src/agent/data-sources.ts';
import { writeDemo } from '../src/cli/demo.ts';
import { type Caller, fullAccess } from '../src/core/caller.ts';
import { systemClock } from '../src/core/clock.ts';
import { settings } from '../src/core/config.ts';
import { AppError, errorCodes } from '../src/core/errors.ts';
import { loadSqliteDriver } from '../src/core/sqlite.ts';
import { buildOnce, runShell } from './cli/command.ts';

const pages = [
  'README.md',
  ...readdirSync('docs')
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** Cells of the body rows of the table under `heading` (the first table of the page without one). */
function readTable(path: string, heading?: string): string[][] {
  const text = readFileSync(path, 'utf8');
  const from = heading === undefined ? 0 : text.indexOf(`\n## ${heading}\n`);
  const lines = text.slice(from).split('\n');
  const first = lines.findIndex((line) => /^\|[ :|-]+\|$/.test(line));
  const rest = lines.slice(first + 1);
  const end = rest.findIndex((line) => !line.startsWith('|'));
  return rest.slice(0, end < 0 ? undefined : end).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

test('docs/errors.md lists every code of core/errors.ts with its status, and no other', () => {
  // A text can be made of any details whose members behave as an empty list does.
  const details = new Proxy({}, { get: () => [] });
  const coded = errorCodes.map((code) => [code, String(new AppError(code, details as never).status)]);
  const rows = readTable('docs/errors.md');
  expect(rows.map(([code, status]) => [code?.replaceAll('`', ''), status])).toEqual(coded);
  expect(rows.filter((cells) => cells.length !== 4 || cells.some((cell) => cell === ''))).toEqual([]);
});

test('docs/configuration.md lists every setting of core/config.ts as it is, and no other', () => {
  const shown = (value: unknown): string => {
    if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) return '–';
    return `\`${Array.isArray(value) ? value.join(',') : String(value)}\``;
  };
  const coded = Object.values(settings).map((row) => {
    const flag = 'flag' in row && row.flag ? `\`${row.flag}\`` : '–';
    return [`\`${row.env}\``, flag, shown(row.fallback), row.about];
  });
  // When this differs, the rows to write are those that were expected.
  expect(readTable('docs/configuration.md', 'Settings').map((cells) => `| ${cells.join(' | ')} |`)).toEqual(
    coded.map((cells) => `| ${cells.join(' | ')} |`),
  );
});

test.each(pages)('the links of %s lead somewhere', (page) => {
  const text = readFileSync(page, 'utf8').replace(/^```[\s\S]*?^```/gm, '');
  const links = [
    ...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g),
    ...text.matchAll(/(?:src|srcset|href)="(?!https?:|#)([^"#\s]+)/g),
  ];
  const gone = links.map(([, to]) => to!).filter((to) => !existsSync(join(dirname(page), to)));
  expect(gone).toEqual([]);
});

interface Block {
  readonly title: string;
  readonly text: string;
}

/** Fenced `sh` blocks whose info string goes on with `run`. */
const blocks: Block[] = pages.flatMap((page) =>
  [...readFileSync(page, 'utf8').matchAll(/^```sh run\n([\s\S]*?)^```/gm)].map(([, text], index) => ({
    title: `${page}, block ${index + 1}`,
    text: text!,
  })),
);

describe('code blocks marked as runnable', () => {
  test('there are some', () => {
    expect(blocks.length).toBeGreaterThan(0);
  });

  test.each(blocks)('$title runs', async ({ text }) => {
    await buildOnce();
    const folder = mkdtempSync(join(tmpdir(), 'portico-docs-'));
    try {
      expect(await runShell(text, folder)).toMatchObject({ code: 0 });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

test('the example of docs/customizing.md is a working portico.config', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-docs-'));
  const example = /```js\n(.*?)```/s.exec(readFileSync('docs/customizing.md', 'utf8'))?.[1] ?? '';
  writeFileSync(join(folder, 'portico.config.mjs'), example);
  writeDemo(join(folder, 'demo.sqlite'), { driver: loadSqliteDriver().driver, clock: systemClock });
  const { default: customize } = await import(join(folder, 'portico.config.mjs'));
  const agent = createEngineAgent().addDataSource(createSqlDataSource(`sqlite:${join(folder, 'demo.sqlite')}`));
  customize(agent);
  const limits = { pageSizeLimit: 1000, queryTimeoutMs: 10_000 };
  const engine = await agent.createEngine({ observe: () => {}, clock: systemClock, limits });
  const access = fullAccess({ id: 1, timezone: 'UTC', tags: {} } as Caller);
  const { rows } = await engine.list(access, {
    collection: 'customers',
    fields: ['full_name', 'first_name', 'last_name', 'loyalty_points'],
    segment: 'Big spenders',
    sort: [{ field: 'full_name' }],
    limit: 5,
  });
  const hidden = engine.describe(access, 'customers').fields.map(({ name }) => name);
  await engine.close();
  rmSync(folder, { recursive: true });
  expect(rows.map(([full, first, last, points]) => [full === `${first} ${last}`, Number(points) > 500])).toEqual(
    Array(5).fill([true, true]),
  );
  expect(hidden).not.toContain('birth_date');
});
