// Exports a log as a stream: CSV for spreadsheets, or NDJSON (one JSON object per line) for a SIEM. Entries come in the
// order in which they were written, with their ids. A client that passes its last id as `since` gets each later entry
// exactly once, even if an earlier call finished late. The log is read in steps while the client downloads, so memory
// holds one step.
import { byteOrderMark, quoteCell } from '../../http/csv-cell.ts';
import type { ScanStep } from '../../store/audit/log-types.ts';
import { integer, oneOf } from '../parameters.ts';
import type { Answer } from '../route.ts';

export const exportParameters = {
  format: oneOf('csv', 'ndjson'),
  since: integer(0, 9_999_999_999),
};

export const exportTypes = ['application/x-ndjson', 'text/csv; charset=utf-8'] as const;

export type ExportFormat = 'csv' | 'ndjson';

interface LogExport<E> {
  readonly name: string;
  readonly format: ExportFormat;
  readonly since: number;
  /** The id of the last entry to export. It is read once, so the export ends. */
  readonly until: number;
  readonly scan: (since: number, until: number) => Promise<ScanStep<E>>;
  readonly toObject: (entry: E) => object;
  readonly columns: Columns<E>;
}

/** Column names, and the function that returns each cell. */
export type Columns<E> = Readonly<Record<string, (entry: E) => string | number | undefined>>;

export function exportLog<E>({ name, format, ...log }: LogExport<E>): Answer {
  const type = format === 'csv' ? exportTypes[1] : exportTypes[0];
  return { status: 200, stream: { type, filename: `${name}.${format}`, parts: writeLog({ format, ...log }) } };
}

async function* writeLog<E>(log: Omit<LogExport<E>, 'name'>): AsyncGenerator<string> {
  const { format, since, until, scan, toObject, columns } = log;
  const cells = Object.values(columns);
  const toLine = {
    csv: (entry: E) => `${cells.map((cell) => toCell(cell(entry))).join(',')}\r\n`,
    ndjson: (entry: E) => `${JSON.stringify(toObject(entry))}\n`,
  }[format];
  // The stream needs a first part even if the log is empty.
  yield format === 'csv' ? `${byteOrderMark}${Object.keys(columns).map(quoteCell).join(',')}\r\n` : '';
  for (let from: number | undefined = since; from !== undefined; ) {
    const { entries, next }: ScanStep<E> = await scan(from, until);
    if (entries.length > 0) yield entries.map(toLine).join('');
    from = next;
  }
}

const toCell = (value: string | number | undefined): string =>
  typeof value === 'string' ? quoteCell(value) : `${value ?? ''}`;
