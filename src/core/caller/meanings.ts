// What collections, fields and relations mean, and the metrics and segments of collections: for assistants and people.
// Code defines some of them, and administrators define others in the console. Those of the console are part of an
// `Access`, so a change takes effect at once in every process.
import type { PlainMeasure } from '../filter/measures.ts';
import type { PlainFilter } from '../filter.ts';

/** What a collection or relation means, for assistants and people. */
export interface Meaning {
  /**
   * On one line, at most 500 characters; an empty text hides the comment of the database. Default: the text of the
   * console, else that comment, cut at 200 characters, which is untrusted text.
   */
  readonly description?: string;
  /** Other words for it, at most 20, which searches of the collections find. Default: those of the console. */
  readonly synonyms?: readonly string[];
}

/** What a field means, for assistants and people. */
export interface FieldMeaning extends Meaning {
  /** The unit of a number, such as `EUR` or `kg`. Default: that of the console. */
  readonly unit?: string;
  /** Typical values, at most 5. Default: those of the console. */
  readonly examples?: readonly (string | number | boolean)[];
  /** The meaning of values, by value. For an Enum, only its values. Default: those of the console. */
  readonly values?: Readonly<Record<string, string>>;
  /**
   * Reads the field only if a request names it: a list without `fields` and a search leave it out. It does not hide the
   * field. Default: as the console says, else false.
   */
  readonly hiddenByDefault?: boolean;
}

/** A metric that administrators defined. Its names are those of callers, and it has the rights of its caller. */
export interface StoredMetric {
  readonly measure: PlainMeasure;
  readonly filter?: PlainFilter;
  readonly description?: string;
}

/** A segment that administrators defined. Its names are those of callers, and it has the rights of its caller. */
export interface StoredSegment {
  readonly filter: PlainFilter;
  readonly description?: string;
}

export interface CollectionMeanings {
  readonly meaning?: Meaning;
  /** Of fields and relations, by the names of callers. */
  readonly fields: ReadonlyMap<string, FieldMeaning>;
  readonly metrics: ReadonlyMap<string, StoredMetric>;
  readonly segments: ReadonlyMap<string, StoredSegment>;
}

/** All that administrators defined in the console. */
export interface StoredMeanings {
  /** Introduces the application to assistants. */
  readonly introduction?: string;
  readonly collections: ReadonlyMap<string, CollectionMeanings>;
}

/** What a stored meaning is about. */
export type MeaningSubject =
  | { readonly kind: 'introduction' }
  | { readonly kind: 'collection'; readonly collection: string }
  | { readonly kind: 'field' | 'metric' | 'segment'; readonly collection: string; readonly name: string };

export const MAX_INTRODUCTION = 2000;
/** Of one field in the console. */
export const MAX_VALUES = 100;

interface Rule {
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
}

const isTextUpTo =
  (characters: number) =>
  (value: unknown): boolean =>
    typeof value === 'string' && value.trim() !== '' && value.length <= characters;
const isListOf =
  (most: number, accepts: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    Array.isArray(value) && value.length <= most && value.every(accepts);
const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The limits keep descriptions within the token budget of an assistant. */
export const meaningRules: { readonly [K in keyof Meaning]-?: Rule } = {
  description: {
    expected: 'a text of at most 500 characters',
    accepts: (value) => typeof value === 'string' && value.length <= 500,
  },
  synonyms: {
    expected: 'a list of at most 20 texts of at most 60 characters',
    accepts: isListOf(20, isTextUpTo(60)),
  },
};

export const fieldMeaningRules: { readonly [K in keyof FieldMeaning]-?: Rule } = {
  ...meaningRules,
  unit: { expected: 'a text of at most 30 characters', accepts: isTextUpTo(30) },
  examples: {
    expected: 'a list of at most 5 numbers, booleans and texts of at most 60 characters',
    accepts: isListOf(5, (value) => typeof value === 'boolean' || Number.isFinite(value) || isTextUpTo(60)(value)),
  },
  values: {
    expected: "the meaning of each value, such as { paid: 'The money arrived' }, texts of at most 200 characters",
    accepts: (value) => isObject(value) && Object.values(value).every(isTextUpTo(200)),
  },
  hiddenByDefault: { expected: 'true or false', accepts: (value) => typeof value === 'boolean' },
};

/** What is expected instead, by the name of the wrong part. */
export function findMeaningProblems(kind: 'collection' | 'field', value: FieldMeaning): ReadonlyMap<string, string> {
  const rules: Readonly<Record<string, Rule>> = kind === 'field' ? fieldMeaningRules : meaningRules;
  return new Map(
    Object.entries(value).flatMap(([part, each]) => {
      const rule = rules[part];
      return each === undefined || rule?.accepts(each) ? [] : [[part, rule?.expected ?? 'nothing'] as const];
    }),
  );
}
