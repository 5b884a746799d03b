// Text layout for drawings. SVG does not wrap text, and the server has no font to measure with. Widths are high
// estimates for common sans-serif fonts, so text wraps early and stays in its box.

/** Width relative to the font size; other characters use the middle width. */
const widths: readonly (readonly [RegExp, number])[] = [
  [/[ijlI.,:;'|!()[\]\s·]/, 0.34],
  [/[ftrsJ-]/, 0.44],
  [/[mwMW@…—%]/, 0.96],
  [/[A-Z0-9]/, 0.68],
  // Wide in East Asian fonts.
  [/[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff60]|\p{Emoji_Presentation}/u, 1],
];
const MIDDLE = 0.62;
const BOLDER = 1.12;

export interface Font {
  readonly size: number;
  readonly isBold?: boolean;
}

export function widthOf(text: string, { size, isBold = false }: Font): number {
  let width = 0;
  for (const letter of text) width += widths.find(([letters]) => letters.test(letter))?.[1] ?? MIDDLE;
  return width * size * (isBold ? BOLDER : 1);
}

/**
 * Splits text into lines of at most that width, at spaces where possible (not at non-breaking spaces). If text remains,
 * the last line ends with an ellipsis.
 */
export function wrap(text: string, font: Font & { readonly width: number; readonly lines: number }): string[] {
  const { width, lines: maxLines } = font;
  const fits = (line: string): boolean => widthOf(line, font) <= width;
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/[ \t\r\n]+/).filter(Boolean)) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (fits(longer)) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word;
    while (!fits(line)) {
      // Split a long word into pieces of similar length, to avoid a single trailing character.
      const letters = [...line];
      const even = letters.slice(0, Math.ceil(letters.length / Math.ceil(widthOf(line, font) / width))).join('');
      const part = fits(even) ? even : cut(line, fits);
      lines.push(part);
      line = line.slice(part.length);
    }
  }
  if (line !== '') lines.push(line);
  if (lines.length <= maxLines) return lines;
  const last = lines.slice(maxLines - 1).join(' ');
  return [...lines.slice(0, maxLines - 1), `${cut(last, (part) => fits(`${part}…`)).trimEnd()}…`];
}

/** Longest prefix that fits, at least one character. */
function cut(text: string, fits: (part: string) => boolean): string {
  let part = '';
  for (const letter of text) {
    if (part !== '' && !fits(part + letter)) return part;
    part += letter;
  }
  return part;
}
