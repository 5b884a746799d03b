// A CSV cell (RFC 4180) that spreadsheets never run as a formula. For every endpoint that returns a table.

/** Goes before the first line. Without it, spreadsheets assume an older encoding. */
export const byteOrderMark = '\ufeff';

export function quoteCell(text: string): string {
  return quote(neutralizeFormula(text));
}

/**
 * CWE-1236: spreadsheets run cells that start like a formula, also after a tab or line break. The full-width forms of
 * these characters work too (OWASP, CSV Injection). A leading apostrophe turns the cell into text.
 */
function neutralizeFormula(text: string): string {
  return /^[=+\-@\t\r\n\uff0b\uff0d\uff1d\uff20]/.test(text) ? `'${text}` : text;
}

/** Also for semicolons and tabs, because some spreadsheets split cells at them. */
function quote(text: string): string {
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
