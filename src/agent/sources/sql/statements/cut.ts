// Cuts long texts that a list only shows (`Select.cut`), so that their rest does not pass through this process. A row
// then has one more value: null, or the lengths of its cut texts in the order of their columns, with 0 for a whole text.
// Whole texts are not changed. On SQLite the child process cuts (sqlite/child.ts).

import type { Row } from '../../statement.ts';
import { CutText } from '../../values/cut-text.ts';
import type { Codec } from '../codec.ts';
import type { Cut } from './shape.ts';

/** The SQL of the columns, and of the lengths. No text has more characters than bytes. */
export function writeCut(columns: readonly string[], cut: Cut, codecAt: (column: number) => Codec): readonly string[] {
  const isLong = (at: number) => `octet_length(${columns[at]}) > ${cut.characters}`;
  const shown = columns.map((column, at) =>
    cut.columns.includes(at)
      ? `case when ${isLong(at)} then left(${column}, ${cut.characters}) else ${column} end`
      : column,
  );
  const lengths = cut.columns.map(
    (at) => `case when ${isLong(at)} then ${codecAt(at).units!(columns[at]!)} else 0 end`,
  );
  const lengthsOf = `concat_ws(' ', ${lengths.join(', ')})`;
  return [...shown, `case when ${cut.columns.map(isLong).join(' or ')} then ${lengthsOf} end`];
}

/** Cuts the texts of a row, and appends their lengths. */
export function cutRow(row: Row, { characters, columns }: Cut): void {
  let isCut = false;
  const lengths = columns.map((at) => {
    const text = row[at];
    if (typeof text !== 'string' || text.length <= characters) return 0;
    isCut = true;
    // One more, so that a reader sees whether the last character is complete. A copy, because a slice holds the text.
    row[at] = Buffer.from(text.slice(0, characters + 1), 'utf16le').toString('utf16le');
    return text.length;
  });
  row.push(isCut ? lengths.join(' ') : null);
}

/** Replaces the lengths of each row by a CutText for each of its cut texts. */
export function readCuts(rows: readonly Row[], { columns }: Cut): void {
  for (const row of rows) {
    const lengths = row.pop();
    if (lengths === null) continue;
    for (const [index, length] of String(lengths).split(' ').entries()) {
      const at = columns[index]!;
      const text = row[at];
      if (typeof text === 'string' && Number(length) > text.length) row[at] = new CutText(text, Number(length));
    }
  }
}
