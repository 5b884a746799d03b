// Finds collections by words: in the names, descriptions, synonyms and types of what a caller sees.
import { mapInTurns } from '../../core/limit/in-turns.ts';
import { createTurns } from '../../core/limit/turns.ts';
import type { CollectionDescription } from '../requests.ts';

/** A collection with the parts that match a search. */
interface FoundCollection {
  /** The name for callers. */
  readonly collection: string;
  /** The names of the fields, relations and metrics that match best, the best first. */
  readonly parts: readonly string[];
}

const MAX_WORDS = 16;
const MAX_PARTS = 25;

/** Words of questions, which are no subject. */
const stopWords = new Set(
  'a an the of and or in on at by to for from with is are was has have had do does which what where who when how that this'.split(
    ' ',
  ),
);

interface Part {
  readonly collection: string;
  /** Absent: the collection itself. */
  readonly name?: string;
  readonly words: readonly string[];
}

/** The best matches first. A part that matches fewer of the words is left out if another matches twice as well. */
export async function findParts(all: readonly CollectionDescription[], text: string): Promise<FoundCollection[]> {
  const asked = [...new Set(wordsOf(text))];
  const subjects = asked.filter((word) => !stopWords.has(word));
  const sought = (subjects.length > 0 ? subjects : asked).slice(0, MAX_WORDS);
  const turn = createTurns();
  const parts = (await mapInTurns(all, turn, partsOf)).flat();
  const find = ({ words }: Part) => sought.map((word) => words.some((other) => isSame(word, other)));
  const hits = await mapInTurns(parts, turn, find);
  // A word that many parts have says little.
  const weights = sought.map((_, at) =>
    Math.log2(1 + parts.length / Math.max(1, hits.filter((hit) => hit[at]).length)),
  );
  const own = new Map(
    parts.flatMap(({ name, collection }, at) => (name === undefined ? [[collection, hits[at]!]] : [])),
  );
  const scored = parts.flatMap((part, at) => {
    const hit = hits[at]!;
    if (!hit.includes(true)) return [];
    // The words of its collection tell one `name` from another.
    const context = own.get(part.collection)!;
    const score = weights.reduce((sum, weight, word) => sum + (hit[word] ? weight : context[word] ? weight / 2 : 0), 0);
    return [{ ...part, score }];
  });
  scored.sort((a, b) => b.score - a.score);
  const best = scored.filter(({ score }) => score * 2 > scored[0]!.score).slice(0, MAX_PARTS);
  return [...new Set(best.map(({ collection }) => collection))].map((collection) => {
    const parts = best.flatMap((part) => (part.collection === collection && part.name) || []);
    return { collection, parts };
  });
}

function partsOf({
  name: collection,
  description,
  synonyms,
  fields,
  relations,
  metrics,
}: CollectionDescription): Part[] {
  const wordsIn = (...texts: readonly (string | readonly string[] | undefined)[]) =>
    texts.flatMap((text) => (text === undefined ? [] : [text].flat().flatMap(wordsOf)));
  return [
    { collection, words: wordsIn(collection, description, synonyms) },
    ...fields.map((field) => ({
      collection,
      name: field.name,
      words: [
        ...wordsIn(field.name, field.description, field.synonyms, field.unit, field.enumValues),
        ...wordsIn(Object.entries(field.values ?? {}).flat(), /^Date/.test(field.type) ? 'date time' : undefined),
      ],
    })),
    ...relations.map((each) => ({
      collection,
      name: each.name,
      words: wordsIn(each.name, each.description, each.synonyms),
    })),
    ...metrics.map((each) => ({ collection, name: each.name, words: wordsIn(each.name, each.description) })),
  ];
}

/** In lower case; `unitPrice` and `unit_price` are two words. */
function wordsOf(text: string): string[] {
  const parts = text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').match(/[\p{L}\p{N}]+/gu) ?? [];
  return parts.map((part) => part.toLowerCase());
}

/** Equal, or with a common stem: `shipping` and `shipped`, `order` and `orders`. */
function isSame(one: string, other: string): boolean {
  if (one === other) return true;
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  if (short.length < 4) return `${short}s` === long && short.length > 1;
  let common = 0;
  while (common < short.length && short[common] === long[common]) common++;
  return common === short.length || (common >= 4 && common >= 0.6 * long.length);
}
