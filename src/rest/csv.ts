// A table as text (RFC 4180), for spreadsheets: it begins with the mark by which they know UTF-8, and no cell is a formula.
import { printJson } from '../agent/sources/json-text.ts';
import { quoteCell } from '../oauth/csv-cell.ts';
import { attachmentNamed } from '../oauth/reply.ts';

export const csvType = 'text/csv; charset=utf-8; header=present';

/** `numeric`: which columns hold numbers, by their place. */
export function csvLines(rows: readonly (readonly unknown[])[], numeric: readonly boolean[]): string {
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

export function csvHeader(labels: readonly string[]): string {
  return csvLines(
    [labels],
    labels.map(() => false),
  );
}

function cellText(value: unknown, isNumeric: boolean): string {
  switch (typeof value) {
    case 'string':
      // Digits that a number would lose.
      return isNumeric ? value : quoteCell(value);
    case 'number':
    case 'boolean':
      return String(value);
    default:
      return value === null || value === undefined ? '' : quoteCell(printJson(value));
  }
}

/** Its name is one of a file, whatever was asked for. */
export function attachmentOf(filename: string): string {
  const safe = [...filename.replace(/[\p{Cc}\p{Cf}\\/"]/gu, '_')].slice(0, 200).join('');
  return attachmentNamed(/\.csv$/i.test(safe) ? safe : `${safe}.csv`);
}
