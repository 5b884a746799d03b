// Regular expressions in time that is linear in the text, whatever the pattern: all places that the pattern can be in are
// followed at once, so that no text makes it try again. What one character is, is asked of the engine of JavaScript; what
// would need going back (lookaround, references to groups) is refused.

export interface Pattern {
  /** As it was written. */
  readonly source: string;
  /** Whether it is found somewhere in the text. */
  test(text: string): boolean;
}

type Node =
  | { readonly op: 'character'; readonly test: (character: string) => boolean }
  | { readonly op: 'all' | 'any'; readonly of: readonly Node[] }
  | { readonly op: 'repeat'; readonly of: Node; readonly least: number; readonly most: number }
  | Edge;

interface Edge {
  readonly op: 'edge';
  readonly at: '^' | '$' | 'b' | 'B';
}

/** What to do at a place: take a character, go on at several places, or be at an edge. */
type Instruction =
  | (Node & { readonly op: 'character' })
  | { readonly op: 'split'; readonly to: number[] }
  | Edge
  | { readonly op: 'found' };

const INSTRUCTIONS_LIMIT = 5_000;

/** SyntaxError for what is no pattern, is too large, or would need going back. */
export function compilePattern(given: string | RegExp): Pattern {
  if (typeof given !== 'string' && !(given instanceof RegExp))
    throw new SyntaxError('expected a regular expression or its text.');
  const { source, flags } = new RegExp(given);
  const isMultiline = flags.includes('m');
  const program = assemble(new Reader(source, flags).read());
  return { source: String(given), test: (text) => run(program, text, isMultiline) };
}

class Reader {
  readonly #source: string;
  readonly #flags: string;
  #at = 0;

  constructor(source: string, flags: string) {
    this.#source = source;
    this.#flags = flags.replace(/[^isv]/g, '');
  }

  read(): Node {
    const node = this.#alternatives();
    if (this.#at < this.#source.length) throw new SyntaxError(`cannot read the pattern at ${this.#at}.`);
    return node;
  }

  #alternatives(): Node {
    const of = [this.#sequence()];
    while (this.#take('|')) of.push(this.#sequence());
    return of.length === 1 ? of[0]! : { op: 'any', of };
  }

  #sequence(): Node {
    const of: Node[] = [];
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at]!)) of.push(this.#quantified());
    return { op: 'all', of };
  }

  #quantified(): Node {
    const of = this.#atom();
    const found = this.#match(/(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y);
    if (!found) return of;
    const [, sign, from, comma, to] = found;
    if (sign)
      return { op: 'repeat', of, least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : Number.POSITIVE_INFINITY };
    const most = !comma ? Number(from) : to ? Number(to) : Number.POSITIVE_INFINITY;
    return { op: 'repeat', of, least: Number(from), most };
  }

  #atom(): Node {
    if (this.#take('^')) return { op: 'edge', at: '^' };
    if (this.#take('$')) return { op: 'edge', at: '$' };
    const edge = this.#match(/\\([bB])/y);
    if (edge) return { op: 'edge', at: edge[1] as 'b' | 'B' };
    if (this.#match(/\\(?:[1-9]|k<)/y) || this.#match(/\((?=\?(?:[=!]|<[=!]))/y))
      throw new SyntaxError('lookaround and references to groups cannot be used: say it with several rules.');
    if (this.#match(/\((?:\?:|\?<[^>]*>)?/y)) {
      const of = this.#alternatives();
      this.#take(')');
      return of;
    }
    const [text] =
      this.#match(/\[(?:\\[\s\S]|[^\]\\])*\]/y) ??
      this.#match(/\\(?:u\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|p\{[^}]*\}|c[a-z]|[\s\S])/iy) ??
      this.#match(/[\s\S]/uy)!;
    return { op: 'character', test: this.#tester(text) };
  }

  #tester(text: string): (character: string) => boolean {
    const whole = `^(?:${text})$`;
    let one: RegExp;
    try {
      one = new RegExp(whole, this.#flags.includes('v') ? this.#flags : `${this.#flags}u`);
    } catch {
      // Escapes that need none are taken without this flag alone.
      one = new RegExp(whole, this.#flags);
    }
    return (character) => one.test(character);
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source);
    if (found) this.#at += found[0].length;
    return found;
  }
}

function assemble(node: Node): readonly Instruction[] {
  const program: Instruction[] = [];
  const push = <I extends Instruction>(instruction: I): I => {
    if (program.push(instruction) > INSTRUCTIONS_LIMIT) throw new SyntaxError('the pattern is too large.');
    return instruction;
  };
  const split = (...to: number[]) => ({ op: 'split' as const, to });
  const add = (each: Node): void => {
    switch (each.op) {
      case 'character':
      case 'edge':
        push(each);
        return;
      case 'all':
        each.of.forEach(add);
        return;
      case 'any': {
        const start = push(split());
        const ends = each.of.map((one) => {
          start.to.push(program.length);
          add(one);
          return push(split());
        });
        for (const end of ends) end.to.push(program.length);
        return;
      }
      case 'repeat': {
        for (let count = 0; count < each.least; count++) add(each.of);
        const skips: { to: number[] }[] = [];
        const again = program.length;
        const more = each.most === Number.POSITIVE_INFINITY ? 1 : each.most - each.least;
        for (let count = 0; count < more; count++) {
          skips.push(push(split(program.length + 1)));
          add(each.of);
        }
        if (each.most === Number.POSITIVE_INFINITY) push(split(again));
        for (const skip of skips) skip.to.push(program.length);
      }
    }
  };
  add(node);
  push({ op: 'found' });
  return program;
}

function run(program: readonly Instruction[], text: string, isMultiline: boolean): boolean {
  const characters = [...text];
  // Where each instruction was come to last, so that none is followed twice at one place.
  const reached = new Int32Array(program.length).fill(-1);
  let places: number[] = [];
  for (let at = 0; at <= characters.length; at++) {
    const waiting: number[] = [];
    const open = [...places, 0];
    while (open.length) {
      const index = open.pop()!;
      if (reached[index] === at) continue;
      reached[index] = at;
      const instruction = program[index]!;
      if (instruction.op === 'found') return true;
      if (instruction.op === 'split') open.push(...instruction.to);
      else if (instruction.op === 'character') waiting.push(index);
      else if (isAtEdge(instruction.at, characters[at - 1], characters[at], isMultiline)) open.push(index + 1);
    }
    const character = characters[at];
    places = [];
    if (character === undefined) break;
    for (const index of waiting)
      if ((program[index] as Node & { op: 'character' }).test(character)) places.push(index + 1);
  }
  return false;
}

function isAtEdge(
  edge: Edge['at'],
  before: string | undefined,
  after: string | undefined,
  isMultiline: boolean,
): boolean {
  if (edge === '^') return before === undefined || (isMultiline && isLineEnd(before));
  if (edge === '$') return after === undefined || (isMultiline && isLineEnd(after));
  return (isWord(before) !== isWord(after)) === (edge === 'b');
}

const isLineEnd = (character: string): boolean => /[\n\r\u2028\u2029]/.test(character);
const isWord = (character: string | undefined): boolean => character !== undefined && /\w/.test(character);
