// The performance targets of the tools, and whether they were met.
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

/** A Markdown table: each target, the measured operation, and the result. */
export function judge(all: readonly Seen[]): string {
  const lines = targets.flatMap(({ asked, most, concerns, of }) =>
    all.filter(concerns).map((seen) => {
      const times = of(seen);
      const where = `${seen.dialect}, ${seen.operation.name}, ${seen.connections}`;
      return `| ${asked} | ${where} | ${most} | ${times.toFixed(2)} | ${times <= most ? 'met' : '**missed**'} |`;
    }),
  );
  return ['| what was asked | where, connections | at most | seen | |', '|---|---|---|---|---|', ...lines, ''].join(
    '\n',
  );
}
