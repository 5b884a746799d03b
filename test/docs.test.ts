// The documentation says what is so: its tables are tied to the tables of the code, both ways; its links lead somewhere;
// and its code blocks that are marked `run` are run as a reader would run them.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { settings } from '../src/core/config.ts';
import { AppError, errorCodes } from '../src/core/errors.ts';
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
