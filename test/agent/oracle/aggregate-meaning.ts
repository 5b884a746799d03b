// What an aggregate means: the records of the matching list, divided into groups. It shares no code with the engine:
// days come from Intl, numbers are integer ten-thousandths, and quotients are long divisions.

import type { Operation } from '../../../src/agent/sources/statement.ts';
import type { BucketUnit } from '../../../src/core/filter/measures.ts';
import { interpret, type Meaning, type Question } from './interpreter.ts';
import { compare, localDay, startOf } from './values.ts';
import type { Kind } from './world.ts';

export interface Part {
  readonly name: string;
  readonly kind: Kind;
}

export interface AggregateQuestion extends Omit<Question, 'fields' | 'sort'> {
  readonly operation: Operation;
  readonly value?: Part;
  readonly groups: readonly (Part & { readonly bucket?: BucketUnit })[];
  readonly order: 'value' | 'groups';
}

interface Pile {
  readonly keys: unknown[];
  readonly values: unknown[];
}

/** Every group in order: its keys, then its value. */
export function interpretAggregate(meaning: Meaning, question: AggregateQuestion): unknown[][] {
  const { groups, value, operation, zone = meaning.zone } = question;
  const fields = [...groups.map((group) => group.name), ...(value ? [value.name] : [])];
  const piles = new Map<string, Pile>();
  for (const row of interpret(meaning, { ...question, fields, sort: [] })) {
    const keys = groups.map((group, at) => periodOf(row[at], group, zone));
    const folded = keys.map((key, at) =>
      groups[at]!.kind === 'label' && meaning.ignoresCase && key !== null ? String(key).toLowerCase() : key,
    );
    const mark = JSON.stringify(folded);
    const pile = piles.get(mark) ?? { keys, values: [] };
    piles.set(mark, pile);
    for (const [at, key] of keys.entries())
      if (
        groups[at]!.kind === 'label' &&
        key !== null &&
        Buffer.from(String(key)).compare(Buffer.from(String(pile.keys[at]))) < 0
      )
        pile.keys[at] = key;
    pile.values.push(value ? row[groups.length] : 'record');
  }
  if (groups.length === 0 && piles.size === 0) piles.set('', { keys: [], values: [] });
  const found = [...piles.values()].map(({ keys, values }) => ({
    keys,
    ...measure(meaning, operation, value?.kind, values),
  }));
  const byValue = (a: (typeof found)[number], b: (typeof found)[number]) => compareMeasures(meaning, b, a, value?.kind);
  const byGroups = (a: (typeof found)[number], b: (typeof found)[number]) => {
    for (const [at, { kind, bucket }] of groups.entries()) {
      const difference = compare(meaning, a.keys[at], b.keys[at], bucket ? 'day' : kind);
      if (difference !== 0) return difference;
    }
    return 0;
  };
  found.sort((a, b) =>
    question.order === 'value' ? byValue(a, b) || byGroups(a, b) : byGroups(a, b) || byValue(a, b),
  );
  return found.map(({ keys, shown }) => [...keys, shown]);
}

function periodOf(value: unknown, { kind, bucket }: AggregateQuestion['groups'][number], zone: string): unknown {
  if (!bucket || value === null) return value;
  const day = kind === 'instant' ? localDay(String(value), zone) : String(value);
  return bucket === 'Day' ? day : startOf(bucket, day);
}

interface Measured {
  readonly shown: unknown;
  /** As a fraction: ten-thousandths over a count. */
  readonly exact?: readonly [bigint, bigint];
}

function measure(meaning: Meaning, operation: Operation, kind: Kind | undefined, all: readonly unknown[]): Measured {
  const values = all.filter((value) => value !== null);
  const count = BigInt(values.length);
  if (operation === 'Count') return { shown: values.length, exact: [count, 1n] };
  if (values.length === 0) return { shown: null };
  if (operation === 'Max' || operation === 'Min') {
    const sorted = [...values].sort((a, b) => compare(meaning, a, b, kind!));
    return { shown: operation === 'Max' ? sorted.at(-1) : sorted[0] };
  }
  const sum = values.reduce((total: bigint, value) => total + tenThousandths(value), 0n);
  if (operation === 'Sum') return { shown: write(divide(sum, 10_000n)), exact: [sum, 1n] };
  return { shown: write(divide(sum, 10_000n * count)), exact: [sum, count] };
}

function compareMeasures(meaning: Meaning, a: Measured, b: Measured, kind: Kind | undefined): number {
  if (!a.exact || !b.exact) {
    if (a.shown === null || b.shown === null) return (a.shown === null ? 0 : 1) - (b.shown === null ? 0 : 1);
    return compare(meaning, a.shown, b.shown, kind!);
  }
  const difference = a.exact[0] * b.exact[1] - b.exact[0] * a.exact[1];
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

function tenThousandths(value: unknown): bigint {
  const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d{1,4}))?$/.exec(String(value))!;
  const units = BigInt(`${whole}${fraction.padEnd(4, '0')}`);
  return sign ? -units : units;
}

/** Long division, digit by digit, to at least 15 significant digits and 6 decimals. Half rounds up. */
function divide(over: bigint, under: bigint): string {
  let rest = over < 0n ? -over : over;
  const whole = String(rest / under);
  rest %= under;
  let fraction = '';
  const counted = () => `${whole}${fraction}`.replace(/^0+/, '').length;
  while (fraction.length < 6 || (counted() < 15 && fraction.length < 60)) {
    rest *= 10n;
    fraction += String(rest / under);
    rest %= under;
  }
  let digits = BigInt(`${whole}${fraction}`);
  if (rest * 2n >= under) digits += 1n;
  const text = String(digits).padStart(fraction.length + 1, '0');
  const cut = text.length - fraction.length;
  return `${over < 0n && digits > 0n ? '-' : ''}${text.slice(0, cut)}.${text.slice(cut)}`.replace(/\.?0+$/, '');
}

function write(text: string): unknown {
  const digits = text.replace(/[-.]/g, '').replace(/^0+/, '').length;
  const exact = text.includes('.') ? digits <= 15 : Number.isSafeInteger(Number(text));
  return exact ? Number(text) : text;
}
