// Checks the documentation: its tables match those of the code in both directions, its links work, and examples of
// customizations do what the page says. test/package runs the code blocks with the packed package.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, expect, test, vi } from 'vitest';
import { bundledPackages } from '../scripts/bundle.mjs';
import { makeRootLlms } from '../site/site.ts';
import { createHeadlessAgent } from '../src/agent/agent.ts';
import { createSqlDataSource } from '../src/agent/data-sources.ts';
import { type Caller, fullAccess } from '../src/core/caller.ts';
import { systemClock } from '../src/core/clock.ts';
import { settings } from '../src/core/config.ts';
import { AppError, errorCodes } from '../src/core/errors.ts';
import { buildOnce } from './cli/command.ts';
import { copyDemo } from './demo.ts';

const pages = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'docs/reference/behaviour.md',
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

test('docs/errors.md lists exactly the codes of core/errors.ts, with their status', () => {
  // Details with members that behave like an empty list satisfy every error text.
  const details = new Proxy({}, { get: () => [] });
  const coded = errorCodes.map((code) => [code, String(new AppError(code, details as never).status)]);
  const rows = readTable('docs/errors.md');
  expect(rows.map(([code, status]) => [code?.replaceAll('`', ''), status])).toEqual(coded);
  expect(rows.filter((cells) => cells.length !== 4 || cells.some((cell) => cell === ''))).toEqual([]);
});

test('docs/configuration.md lists exactly the settings of core/config.ts', () => {
  const shown = (value: unknown): string => {
    if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) return '–';
    return `\`${Array.isArray(value) ? value.join(',') : String(value)}\``;
  };
  const coded = Object.values(settings).map((row) => {
    const flag = 'flag' in row && row.flag ? `\`${row.flag}\`` : '–';
    return [`\`${row.env}\``, flag, shown(row.fallback), row.about];
  });
  // On a difference, copy the expected rows into the page.
  expect(readTable('docs/configuration.md', 'Settings').map((cells) => `| ${cells.join(' | ')} |`)).toEqual(
    coded.map((cells) => `| ${cells.join(' | ')} |`),
  );
});

test('docs/dependencies.md lists exactly the packages that this package uses', () => {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const text = readFileSync('docs/dependencies.md', 'utf8');
  const named = [...text.split('\n## Types')[0]!.matchAll(/^\| ([^|]+) \|/gm)].flatMap(
    ([, cell]) => cell!.match(/`[^`]+`/g) ?? [],
  );
  // `/node` follows the package whose scope it shares.
  const names = named.map((name) => name.replaceAll('`', '').replace(/^\//, '@modelcontextprotocol/'));
  expect(names.sort()).toEqual([...Object.keys({ ...dependencies, ...peerDependencies }), ...bundledPackages].sort());
});

test.each(pages)('the links of %s are valid', (page) => {
  const text = readFileSync(page, 'utf8').replace(/^```[\s\S]*?^```/gm, '');
  const links = [
    ...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g),
    ...text.matchAll(/(?:src|srcset|href)="(?!https?:|#)([^"#\s]+)/g),
  ];
  const gone = links.map(([, to]) => to!).filter((to) => !existsSync(join(dirname(page), to)));
  expect(gone).toEqual([]);
});

test('llms.txt is the output of `npm run docs`', () => {
  expect(readFileSync('llms.txt', 'utf8')).toBe(makeRootLlms('.'));
});

const configs = ['docs/customizing.md', 'docs/aggregates.md', 'docs/queries.md'].flatMap((page) =>
  [...readFileSync(page, 'utf8').matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code!),
);
const access = fullAccess({ id: 1, timezone: 'UTC', tags: {} } as Caller);

// Read by the examples.
beforeEach(() => void vi.stubEnv('AI_PROVIDER_API_KEY', 'sk-of-nobody'));

/** The engine over the demo, customized by one of the examples. */
async function openConfig(place: number) {
  const folder = mkdtempSync(join(tmpdir(), 'portico-docs-'));
  await buildOnce();
  const plugins = pathToFileURL(resolve('dist/plugins/index.js')).href;
  const code = (configs[place] ?? '')
    .replace('portico/plugins', plugins)
    // Uses src/ like the agent of this test, because a provider must come from the same module.
    .replace("from 'portico'", `from '${resolve('src/index.ts')}'`);
  writeFileSync(join(folder, 'portico.config.mjs'), code);
  copyDemo(join(folder, 'demo.sqlite'));
  const { default: customize } = await import(join(folder, 'portico.config.mjs'));
  const agent = createHeadlessAgent().addDataSource(createSqlDataSource(`sqlite:${join(folder, 'demo.sqlite')}`));
  customize(agent);
  const limits = { pageSizeLimit: 1000, queryTimeoutMs: 10_000 };
  const engine = await agent.createEngine({ observe: () => {}, clock: systemClock, limits });
  return {
    engine,
    async close() {
      await engine.close();
      rmSync(folder, { recursive: true });
    },
  };
}

test.each(configs.map((_, place) => place))(
  'example %i of customizing.md, aggregates.md and queries.md is a valid portico.config, and its charts render',
  async (place) => {
    const { engine, close } = await openConfig(place);
    for (const chart of engine.charts.names(access)) await engine.charts.render(access, { chart });
    for (const { name: collection } of engine.index(access))
      for (const chart of engine.charts.names(access, collection))
        expect(await engine.charts.render(access, { chart, collection, id: 1 })).not.toEqual([]);
    await close();
  },
);

test('the query of docs/queries.md returns its documented columns', async () => {
  const { engine, close } = await openConfig(configs.length - 1);
  const [, text] = /```json\n(.*?)```/s.exec(readFileSync('docs/queries.md', 'utf8'))!;
  const { collectionName: collection, filters: filter, ...call } = JSON.parse(text!);
  const { rows } = await engine.aggregate(access, { ...call, collection, filter, limit: 50 });
  const names = engine.describe(access, collection).fields.map(({ name, type }) => `${name} ${type}`);
  await close();
  expect(rows.length).toBeGreaterThan(1);
  expect(rows.every(([country, revenue]) => /^[A-Z]{2}$/.test(String(country)) && Number(revenue) > 0)).toBe(true);
  expect(names).toEqual(['customer_id Number', 'month Dateonly', 'orders Number', 'revenue Number', 'since Dateonly']);
});

test('the first example of docs/customizing.md does what the page says', async () => {
  const { engine, close } = await openConfig(0);
  const { rows } = await engine.list(access, {
    collection: 'customers',
    fields: ['full_name', 'first_name', 'last_name', 'loyalty_points'],
    segment: 'Big spenders',
    sort: [{ field: 'full_name' }],
    limit: 5,
  });
  const hidden = engine.describe(access, 'customers').fields.map(({ name }) => name);
  await close();
  expect(rows.map(([full, first, last, points]) => [full === `${first} ${last}`, Number(points) > 500])).toEqual(
    Array(5).fill([true, true]),
  );
  expect(hidden).not.toContain('birth_date');
});
