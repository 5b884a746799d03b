// The performance targets of the tools, and the table that says of each target whether it was met.
import type { Dialect } from '../test/databases.ts';
import { isWrite, type Operation } from './operations.ts';

/** Median ratios of Portico's CPU time per call to that of the bare servers. */
export interface Seen {
  readonly dialect: Dialect;
  readonly operation: Operation;
  readonly connections: number;
  readonly http: number;
  readonly express: number;
  /** The ratio with a client of 2026-07-28. */
  readonly modernHttp: number;
}

/** One target at one place. */
export interface Judged {
  readonly asked: string;
  readonly where: string;
  /** At most `most`, better `stretch`; or at least `least`. */
  readonly bound: { readonly most: number; readonly stretch?: number } | { readonly least: number };
  /** A text says why there is no figure; the target is then missed. */
  readonly seen: number | string;
}

interface Target {
  readonly asked: string;
  readonly most: number;
  readonly concerns: (seen: Seen) => boolean;
  readonly of: (seen: Seen) => number;
}

const onSqlite = (name: string) => (seen: Seen) => seen.dialect === 'sqlite' && seen.operation.name === name;

const targets: readonly Target[] = [
  { asked: 'list of 15 rows, beside node:http', most: 2.5, concerns: onSqlite('list'), of: ({ http }) => http },
  { asked: '1,000 rows, beside node:http', most: 1.4, concerns: onSqlite('list 1,000'), of: ({ http }) => http },
  { asked: 'tools/list, beside node:http', most: 3, concerns: onSqlite('tools/list'), of: ({ http }) => http },
  {
    asked: 'a read, beside Express',
    most: 1.25,
    concerns: ({ operation }) => !isWrite(operation),
    of: ({ express }) => express,
  },
  {
    asked: 'a write, beside Express',
    most: 1.5,
    concerns: ({ operation }) => isWrite(operation),
    of: ({ express }) => express,
  },
];

/** The targets of the tools. */
export function judge(all: readonly Seen[]): string {
  return judgedTable(
    targets.flatMap(({ asked, most, concerns, of }) =>
      all.filter(concerns).map((seen) => ({
        asked,
        where: `${seen.dialect}, ${seen.operation.name}, ${seen.connections}`,
        bound: { most },
        seen: of(seen),
      })),
    ),
  );
}

/** A Markdown table: each target, where it was measured, and the result. */
export function judgedTable(all: readonly Judged[]): string {
  const lines = all.map(({ asked, where, bound, seen }) => {
    const figure = typeof seen === 'number' ? figureOf(seen) : seen;
    return `| ${asked} | ${where} | ${boundOf(bound)} | ${figure} | ${verdictOf(bound, seen)} |`;
  });
  return ['| what was asked | where, connections | at most | seen | |', '|---|---|---|---|---|', ...lines, ''].join(
    '\n',
  );
}

const figureOf = (seen: number): string => seen.toFixed(seen < 100 ? 2 : 0);

function boundOf(bound: Judged['bound']): string {
  if ('least' in bound) return `at least ${bound.least}`;
  return bound.stretch === undefined ? `${bound.most}` : `${bound.most} (stretch ${bound.stretch})`;
}

function verdictOf(bound: Judged['bound'], seen: number | string): string {
  const isMet = typeof seen === 'number' && ('least' in bound ? seen >= bound.least : seen <= bound.most);
  if (!isMet) return '**missed**';
  return 'stretch' in bound && bound.stretch !== undefined && seen <= bound.stretch ? 'met, stretch too' : 'met';
}
