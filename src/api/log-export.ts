// A log as one stream, for those who keep a copy: CSV for spreadsheets, NDJSON (one JSON object a line) for a SIEM. Entries come in
// the order in which they were written, each with its id: who has kept one asks for what came `since`, and gets every later
// entry once, even where a call that began earlier ended later. It is read step by step while the client takes it, so
// that memory holds one step, however long the log is.
import { byteOrderMark, quoteCell } from '../oauth/csv-cell.ts';
import type { WalkStep } from '../store/log-types.ts';
import { integer, oneOf } from './parameters.ts';
import type { Answer } from './route.ts';

export const exportParameters = {
  format: oneOf('csv', 'ndjson'),
  since: integer(0, 9_999_999_999),
};

export const exportTypes = ['application/x-ndjson', 'text/csv; charset=utf-8'] as const;

export type ExportFormat = 'csv' | 'ndjson';

export interface Exported<E> {
  readonly name: string;
  readonly format: ExportFormat;
  readonly since: number;
  /** Of the last entry to tell of; asked once, so that an export ends. */
  readonly until: number;
  readonly walk: (since: number, until: number) => Promise<WalkStep<E>>;
  readonly toObject: (entry: E) => object;
  readonly columns: Columns<E>;
}

/** Names of columns, and what stands there. */
export type Columns<E> = Readonly<Record<string, (entry: E) => string | number | undefined>>;

export function exportLog<E>({ name, format, ...log }: Exported<E>): Answer {
  const type = format === 'csv' ? exportTypes[1] : exportTypes[0];
  return { status: 200, stream: { type, filename: `${name}.${format}`, parts: writeLog({ format, ...log }) } };
}

async function* writeLog<E>(log: Omit<Exported<E>, 'name'>): AsyncGenerator<string> {
  const { format, since, until, walk, toObject, columns } = log;
  const cells = Object.values(columns);
  const toLine = {
    csv: (entry: E) => `${cells.map((cell) => toCell(cell(entry))).join(',')}\r\n`,
    ndjson: (entry: E) => `${JSON.stringify(toObject(entry))}\n`,
  }[format];
  // Something is sent first in either, so that an empty log is answered as one.
  yield format === 'csv' ? `${byteOrderMark}${Object.keys(columns).map(quoteCell).join(',')}\r\n` : '';
  for (let from: number | undefined = since; from !== undefined; ) {
    const { entries, next }: WalkStep<E> = await walk(from, until);
    if (entries.length > 0) yield entries.map(toLine).join('');
    from = next;
  }
}

const toCell = (value: string | number | undefined): string =>
  typeof value === 'string' ? quoteCell(value) : `${value ?? ''}`;
