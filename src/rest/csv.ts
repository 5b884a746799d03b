// A table as text (RFC 4180), for spreadsheets: it begins with the mark by which they know UTF-8, and no cell is a formula.
import { printJson } from '../agent/sources/json-text.ts';
import { attachmentNamed } from '../oauth/reply.ts';

export const csvType = 'text/csv; charset=utf-8; header=present';

/** Before the first line; without it spreadsheets take the text for one of an older encoding. */
export const byteOrderMark = '\ufeff';

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
      return isNumeric ? value : quote(disarm(value));
    case 'number':
    case 'boolean':
      return String(value);
    default:
      return value === null || value === undefined ? '' : quote(disarm(printJson(value)));
  }
}

/**
 * CWE-1236: a spreadsheet runs what begins like a formula, also after a tab or a line break, and takes the wide forms of the
 * same characters for them (OWASP, CSV Injection). An apostrophe before it makes a text of it.
 */
function disarm(text: string): string {
  return /^[=+\-@\t\r\n\uff0b\uff0d\uff1d\uff20]/.test(text) ? `'${text}` : text;
}

/** Semicolons and tabs too: some spreadsheets divide at those. */
function quote(text: string): string {
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Its name is one of a file, whatever was asked for. */
export function attachmentOf(filename: string): string {
  const safe = [...filename.replace(/[\p{Cc}\p{Cf}\\/"]/gu, '_')].slice(0, 200).join('');
  return attachmentNamed(/\.csv$/i.test(safe) ? safe : `${safe}.csv`);
}
