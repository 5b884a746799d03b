// Texts of a drawing: SVG wraps none by itself, and who draws on the server has no font to measure with. Widths are those of usual
// sans-serif fonts, on the large side, so that a text is rather broken too early than runs out of its box.

/** In parts of the size of the font; other letters are of middle width. */
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

/** Lines of at most that width, broken at spaces (not at those that do not break) where there are some; the last ends in an ellipsis where text is left. */
export function wrap(text: string, font: Font & { readonly width: number; readonly lines: number }): string[] {
  const { width, lines: most } = font;
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
      // In pieces of about one length, so that no letter is left alone.
      const letters = [...line];
      const even = letters.slice(0, Math.ceil(letters.length / Math.ceil(widthOf(line, font) / width))).join('');
      const part = fits(even) ? even : cut(line, fits);
      lines.push(part);
      line = line.slice(part.length);
    }
  }
  if (line !== '') lines.push(line);
  if (lines.length <= most) return lines;
  const last = lines.slice(most - 1).join(' ');
  return [...lines.slice(0, most - 1), `${cut(last, (part) => fits(`${part}…`)).trimEnd()}…`];
}

/** As much of its beginning as fits: one letter at least. */
function cut(text: string, fits: (part: string) => boolean): string {
  let part = '';
  for (const letter of text) {
    if (part !== '' && !fits(part + letter)) return part;
    part += letter;
  }
  return part;
}
