// A cell of a table as text (RFC 4180), for spreadsheets: none is a formula. For every door that answers with a table.

/** Before the first line; without it spreadsheets take the text for one of an older encoding. */
export const byteOrderMark = '\ufeff';

export function quoteCell(text: string): string {
  return quote(disarm(text));
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
