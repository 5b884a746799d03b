// Colours are only for terminals, and not if NO_COLOR is set.
import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];
export type Paint = (style: Style, text: string) => string;

export function createPaint(stream: NodeJS.WriteStream): Paint {
  const coloured = stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
  return coloured ? (style, text) => styleText(style, text) : (_style, text) => text;
}

/** Pads columns to their widest cell. The last column is not padded. */
export function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  }
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('  ')
      .trimEnd(),
  );
}
