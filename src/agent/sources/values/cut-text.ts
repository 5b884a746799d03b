/** The start of a text that the source cut (`Select.cut`). */
export class CutText {
  /** At least as many characters as `Select.cut` names. */
  readonly start: string;
  /** The length of the whole text, in UTF-16 code units. */
  readonly length: number;

  constructor(start: string, length: number) {
    this.start = start;
    this.length = length;
  }
}
