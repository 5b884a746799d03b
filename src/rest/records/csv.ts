// Writes tables as CSV (RFC 4180) for spreadsheets. `quoteCell` prevents formulas. The file starts with a byte order
// mark, which spreadsheets need to detect UTF-8.
import { stringifyJson } from '../../agent/sources/lossless-json.ts';
import { quoteCell } from '../../http/csv-cell.ts';
import { attachmentHeader } from '../../http/reply.ts';

export const csvType = 'text/csv; charset=utf-8; header=present';

/** `numeric`: for each column, whether it holds numbers. */
function csvLines(rows: readonly (readonly unknown[])[], numeric: readonly boolean[]): string {
  let text = '';
  for (const row of rows) {
    for (let at = 0; at < row.length; at++) {
      if (at > 0) text += ',';
      text += cellText(row[at], numeric[at]!);
    }
    text += '\r\n';
  }
  return text;
}

const CHARACTERS_PER_PART = 64_000;

/** The same in parts of about 64,000 characters. A part ends after a complete row. */
export function* csvParts(rows: readonly (readonly unknown[])[], numeric: readonly boolean[]): Generator<string> {
  let part = '';
  for (const row of rows) {
    part += csvLines([row], numeric);
    if (part.length < CHARACTERS_PER_PART) continue;
    yield part;
    part = '';
  }
  if (part !== '') yield part;
}

export function csvHeader(labels: readonly string[]): string {
  return csvLines(
    [labels],
    labels.map(() => false),
  );
}

function cellText(value: unknown, isNumeric: boolean): string {
  switch (typeof value) {
    case 'string':
      // A number can arrive as a string to keep digits that a JavaScript number would lose.
      return isNumeric ? value : quoteCell(value);
    case 'number':
    case 'boolean':
      return String(value);
    default:
      return value === null || value === undefined ? '' : quoteCell(stringifyJson(value));
  }
}

/** Returns a Content-Disposition value with a safe filename that ends in `.csv`. */
export function csvAttachment(filename: string): string {
  const safe = [...filename.replace(/[\p{Cc}\p{Cf}\\/"]/gu, '_')].slice(0, 200).join('');
  return attachmentHeader(/\.csv$/i.test(safe) ? safe : `${safe}.csv`);
}
