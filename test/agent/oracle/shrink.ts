// Finds the smallest question and row scopes that still give a wrong result, by removing one part after another.
import { type Filter, isGroup, isLeaf, isRefused, readQuantified } from './filters.ts';
import type { Question } from './interpreter.ts';
import type { World } from './world.ts';

export interface Case {
  readonly question: Question;
  readonly scopes: Readonly<Record<string, Filter>>;
}

const MOST_TRIES = 400;

type WrongAnswer = Error & { readonly expected?: unknown; readonly actual?: unknown };

export const isWrongAnswer = (cause: unknown): cause is WrongAnswer =>
  cause instanceof Error && cause.name === 'AssertionError';

/** The error for the smallest failing case, with the result of each subject. */
export async function showSmallest<T extends { readonly name: string }>(
  world: World,
  given: Case,
  subjects: readonly T[],
  ask: (subject: T, each: Case) => Promise<void>,
  cause: Error,
): Promise<Error> {
  const smallest = await shrink(world, given, async (smaller) => {
    for (const each of subjects) await ask(each, smaller);
  });
  const answers: string[] = [];
  for (const each of subjects)
    answers.push(`${each.name}: ${await ask(each, smallest).then(() => 'as expected', showWrong)}`);
  const text = `${cause.message}\nsmallest: ${JSON.stringify(smallest)}\n${answers.join('\n')}`;
  return new Error(text, { cause });
}

const showWrong = ({ message, expected, actual }: WrongAnswer): string =>
  `${message}\n  expected ${JSON.stringify(expected)}\n  actual   ${JSON.stringify(actual)}`;

/** `ask` throws an AssertionError if a result is wrong. Any other error means that the removed part was needed. */
async function shrink(world: World, given: Case, ask: (smaller: Case) => Promise<void>): Promise<Case> {
  let smallest = given;
  let tries = 0;
  const isWrong = async (each: Case) => {
    const table = world.tables.find(({ name }) => name === each.question.table)!;
    try {
      if (each.question.filter && isRefused(world, table, each.question.filter)) return false;
      await ask(each);
      return false;
    } catch (cause) {
      return isWrongAnswer(cause);
    }
  };
  for (let found = true; found && tries < MOST_TRIES; ) {
    found = false;
    for (const each of smallerCases(smallest)) {
      if (tries++ >= MOST_TRIES) break;
      if (!(await isWrong(each))) continue;
      smallest = each;
      found = true;
      break;
    }
  }
  return smallest;
}

function* smallerCases({ question, scopes }: Case): Generator<Case> {
  for (const name of Object.keys(scopes)) {
    const { [name]: scope, ...others } = scopes;
    yield { question, scopes: others };
    for (const each of smallerFilters(scope!)) yield { question, scopes: { ...others, [name]: each } };
  }
  for (const name of ['filter', 'segment', 'zone', 'within'] as const) {
    const { [name]: left, ...others } = question;
    if (left !== undefined) yield { question: others, scopes };
  }
  const { sought, search, extended, ...open } = question;
  if (sought) yield { question: open, scopes };
  if (question.sort.length > 0) yield { question: { ...question, sort: [] }, scopes };
  for (const field of question.fields.length > 1 ? question.fields : [])
    yield { question: { ...question, fields: [field] }, scopes };
  for (const filter of question.filter ? smallerFilters(question.filter) : [])
    yield { question: { ...question, filter }, scopes };
}

/** Removes one part: a condition, a level, or the condition of a quantifier. */
export function* smallerFilters(filter: Filter): Generator<Filter> {
  if (isLeaf(filter)) return;
  if (isGroup(filter)) {
    yield* filter.conditions;
    for (const [at, each] of filter.conditions.entries()) {
      const replaced = (...more: Filter[]) => ({ ...filter, conditions: filter.conditions.toSpliced(at, 1, ...more) });
      yield replaced();
      for (const smaller of smallerFilters(each)) yield replaced(smaller);
    }
    return;
  }
  const { quantifier, path, where } = readQuantified(filter);
  if (where && quantifier !== 'every') yield { [quantifier]: path } as unknown as Filter;
  for (const each of where ? smallerFilters(where) : []) yield { [quantifier]: path, where: each } as unknown as Filter;
}
