// The targets of the large shop, beside a bare node:http handler unless they say otherwise. The limits of calls are of
// CPU time, with 16 connections.
import type { Dialect } from '../../test/databases.ts';
import type { Judged } from '../targets.ts';

export interface LargeSeen {
  readonly dialect: Dialect;
  readonly operation: string;
  readonly connections: number;
  /** A text says why it could not be measured. */
  readonly figures: Figures | string;
}

export interface Figures {
  /** Median ratio of CPU time per call, Portico's to that of the bare node:http handler. */
  readonly http: number;
  /** Portico's calls per second as a part of those of the bare Express handler. */
  readonly rateOfExpress: number;
  /** The largest resident memory of Portico's processes after a round. */
  readonly residentBytes: number;
}

interface Limit {
  readonly operation: string;
  readonly dialects: readonly Dialect[];
  readonly most: number;
  readonly stretch: number;
}

const everywhere: readonly Dialect[] = ['sqlite', 'mariadb', 'postgres'];

/** A create of Portico always has its durable audit entry. Beside the first, the bare servers write none. */
const limits: readonly Limit[] = [
  { operation: 'W1 list', dialects: ['sqlite'], most: 2, stretch: 1.6 },
  { operation: 'W1 list', dialects: ['mariadb', 'postgres'], most: 2.2, stretch: 1.8 },
  { operation: 'W3 by key', dialects: everywhere, most: 2.5, stretch: 1.6 },
  { operation: 'W5 create', dialects: everywhere, most: 3.5, stretch: 2.5 },
  { operation: 'W5 create, all with an audit entry', dialects: everywhere, most: 3.5, stretch: 2.5 },
  { operation: 'W6 related', dialects: ['sqlite'], most: 2, stretch: 1.6 },
  { operation: 'W8 tools/list', dialects: everywhere, most: 2, stretch: 1.2 },
];

const memory = { most: 200, stretch: 130 };
const start = { most: 4, stretch: 2.5 };
const leastRateOfExpress = 0.6;

/** Only those with as many connections as the targets are for: the most that were measured. */
export function judgeCalls(all: readonly LargeSeen[]): Judged[] {
  const connections = Math.max(...all.map((seen) => seen.connections));
  const concerned = all.filter((seen) => seen.connections === connections);
  const place = ({ dialect, operation }: LargeSeen) => `${dialect}, ${operation}, ${connections}`;
  const figure = ({ figures }: LargeSeen, of: (figures: Figures) => number) =>
    typeof figures === 'string' ? figures : of(figures);
  const ratios = concerned.flatMap((seen) =>
    limits
      .filter(({ operation, dialects }) => operation === seen.operation && dialects.includes(seen.dialect))
      .map(({ most, stretch }) => ({
        asked: 'CPU of a call, times node:http',
        where: place(seen),
        bound: { most, stretch },
        seen: figure(seen, ({ http }) => http),
      })),
  );
  const rates = concerned
    .filter(({ dialect, operation }) => dialect === 'mariadb' && operation === 'W1 list')
    .map((seen) => ({
      asked: 'calls a second, as a part of those of Express',
      where: place(seen),
      bound: { least: leastRateOfExpress },
      seen: figure(seen, ({ rateOfExpress }) => rateOfExpress),
    }));
  return [...ratios, ...rates, ...judgeMemory(concerned)];
}

function judgeMemory(all: readonly LargeSeen[]): Judged[] {
  const bytes = all.flatMap(({ dialect, figures }) =>
    dialect === 'sqlite' && typeof figures !== 'string' ? [figures.residentBytes] : [],
  );
  if (bytes.length === 0) return [];
  const asked = 'resident memory under load, MB, with children';
  return [{ asked, where: 'sqlite, the largest of all calls', bound: memory, seen: Math.max(...bytes) / 1e6 }];
}

/** `times`: the median time to the first answer, Portico's to that of a bare handler. */
export function judgeStart(times: number): Judged {
  return { asked: 'start to first answer, times node:http', where: 'sqlite', bound: start, seen: times };
}
