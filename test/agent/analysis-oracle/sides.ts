// Compares what a question means with what plain SQL returns, without the engine.
import { expect } from 'vitest';
import type { Dialect, TestServer } from '../../databases.ts';
import { isRefused } from '../oracle/filters.ts';
import type { Meaning } from '../oracle/interpreter.ts';
import { createRandom, type Random } from '../oracle/random.ts';
import { createScopes } from '../oracle/requests.ts';
import { isWrongAnswer } from '../oracle/shrink.ts';
import { canonical, type DirectConnection } from '../oracle/sql-values.ts';
import { createTables } from '../oracle/tables.ts';
import { twistWorld } from '../oracle/twists.ts';
import { addFirsts, createWorld, type Kind, type World } from '../oracle/world.ts';
import { openForAnalysis } from './direct.ts';
import { show } from './exact.ts';
import { createAggregate, isOrdered } from './generator.ts';
import { createHaving } from './having.ts';
import type { Answer } from './level.ts';
import { interpretAnalysis } from './meaning.ts';
import { TooLarge, type Value } from './measures.ts';
import type { Aggregate, ColumnKind } from './question.ts';
import { shrink } from './shrink.ts';
import { writeAnalysis } from './write-sql.ts';

export const zones = [
  'UTC', 'Europe/Paris', 'America/Havana', 'America/New_York', 'Asia/Kolkata', 'Pacific/Auckland', 'America/St_Johns',
  'Australia/Lord_Howe', 'Africa/Casablanca', 'Pacific/Apia', 'Asia/Tehran', 'Europe/Dublin',
]; // biome-ignore format: a pool

/** How interesting the questions were. */
export interface Tally {
  asked: number;
  empty: number;
  trivial: number;
  discarded: number;
  refused: number;
  /** Refused by SQLite because its integers have 64 bits. */
  beyond: number;
  readonly features: Record<string, number>;
}

export const createTally = (): Tally => ({
  asked: 0,
  empty: 0,
  trivial: 0,
  discarded: 0,
  refused: 0,
  beyond: 0,
  features: {},
});

export function showTally({ asked, empty, trivial, discarded, refused, beyond, features }: Tally): string {
  const part = (count: number) => `${Math.round((1000 * count) / Math.max(1, asked)) / 10} %`;
  const each = Object.entries(features).map(([name, count]) => `${name} ${part(count)}`);
  return `${asked} questions: ${part(empty)} without rows, ${part(trivial)} with only zeros and nulls, ${discarded} discarded, ${refused} more to be refused, ${beyond} beyond 64 bits on SQLite; ${each.join(', ')}`;
}

export const habitsOf = (dialect: Dialect | 'memory') => ({
  ignoresCase: dialect !== 'postgres',
  choiceIsText: dialect === 'sqlite',
  uuidBackwards: dialect === 'mariadb',
});

export interface Asked {
  readonly question: Aggregate;
  readonly scopes: ReturnType<typeof createScopes>;
  readonly zone: string;
}

export function createAnalyticWorld(seed: number): { readonly world: World; readonly random: Random } {
  const random = createRandom(seed);
  const world = addFirsts(createWorld(random));
  if (seed % 3 > 0) twistWorld(world, random);
  const emptied = random.chance(0.15) ? random.pick(['log', 'marks']) : undefined;
  for (const { name, rows } of world.tables) if (name === emptied) rows.length = 0;
  return { world, random };
}

/** A question whose figures are within bounds; undefined if too many tries were not. */
export function createAsked(world: World, random: Random, tally: Tally): Asked {
  for (;;) {
    const zone = random.pick(zones);
    const scopes = random.chance(0.3) ? createScopes(world, random, true) : {};
    const made = { ...createAggregate(world, random), ...(random.chance(0.6) && { timezone: random.pick(zones) }) };
    try {
      const open = interpretAnalysis({ world, scopes, zone, ...habitsOf('postgres') }, made);
      const having = !made.over && random.chance(0.25) ? createHaving(made, open, random) : undefined;
      const question = having ? { ...made, having } : made;
      for (const dialect of ['sqlite', 'mariadb'] as const)
        interpretAnalysis({ world, scopes, zone, ...habitsOf(dialect) }, question);
      return { question, scopes, zone };
    } catch (cause) {
      if (!(cause instanceof TooLarge)) throw cause;
      tally.discarded++;
    }
  }
}

export function count(tally: Tally, { question, scopes }: Asked, { rows, kinds }: Answer): void {
  const { features } = tally;
  const add = (name: string) => {
    features[name] = (features[name] ?? 0) + 1;
  };
  tally.asked++;
  if (rows.length === 0) tally.empty++;
  const from = question.over ? 0 : (question.groups ?? []).length;
  const isTrivial = (value: Value) =>
    value === null || (typeof value === 'object' && 'units' in value && value.units === 0n);
  if (rows.length > 0 && rows.every((row) => row.slice(from, kinds.length).every(isTrivial))) tally.trivial++;
  for (const name of ['filters', 'having', 'sort', 'top', 'compare', 'includeEmpty', 'over'] as const)
    if (question[name] !== undefined) add(name);
  if (Object.keys(scopes).length > 0) add('scopes');
}

/** Each value as a text; ranges by their position. */
export function textsOf(kinds: readonly ColumnKind[], row: readonly unknown[]): (string | null)[] {
  return row.map((value, at) => textOf(kinds[at]!, value));
}

function textOf(kind: ColumnKind, value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'object' && 'units' in value) return canonical('decimal', show(value as never));
  return kind === 'bucket' || kind === 'part' || kind === 'range' ? String(value) : canonical(kind as Kind, value);
}

/** Throws if SQL returns other rows than expected. */
export async function compareWithSql(
  { dialect, connection }: { readonly dialect: Dialect; readonly connection: DirectConnection },
  meaning: Meaning,
  question: Aggregate,
  { kinds, rows }: Answer,
  turn: number,
  told: string,
): Promise<void> {
  const { world, scopes, zone } = meaning;
  const texts = rows.map((row) => textsOf(kinds, row));
  // SQL has 34 decimals of a quotient, which do not order such small ones (ORACLE_SEED=11273037).
  if (/"(ratio|dividedBy)"/.test(JSON.stringify(question.measures)) && texts.flat().some(isTiny)) return;
  const sql = writeAnalysis({ world, dialect, scopes, zone, random: createRandom(turn) }, question);
  const said = `${told}\n${sql}`;
  const found = await connection
    .all(sql)
    .catch((cause: unknown) => Promise.reject(new Error(`${said}: ${cause}`, { cause })));
  const plain = (list: readonly (readonly (string | null)[])[]) =>
    isOrdered(world, question) ? list : list.map((row) => JSON.stringify(row)).sort();
  expect(plain(found.map((row) => textsOf(kinds, row))), said).toEqual(plain(texts));
}

const isTiny = (text: string | null): boolean => /^-?0\.0{9}/.test(text ?? '') && Number(text) !== 0;

/** Throws the failure of the smallest question that still gives a wrong answer. */
export async function failWithSmallest(
  asked: Asked,
  ask: (smaller: Asked) => Promise<void>,
  told: string,
  cause: unknown,
): Promise<never> {
  if (!isWrongAnswer(cause)) throw new Error(`${told}: ${JSON.stringify(asked)}\n${cause}`, { cause });
  const isWrong = (smaller: Asked) => ask(smaller).then(() => false, isWrongAnswer);
  const smallest = await shrink(asked, isWrong);
  const failure = await ask(smallest).catch(
    (found: unknown) => found as Error & { expected?: unknown; actual?: unknown },
  );
  const { message, expected, actual } = failure ?? { message: 'no longer wrong', expected: null, actual: null };
  const shown = `expected ${JSON.stringify(expected)}\nactual   ${JSON.stringify(actual)}`;
  throw new Error(`${told}\n${JSON.stringify(asked)}\nsmallest: ${JSON.stringify(smallest)}\n${message}\n${shown}`, {
    cause,
  });
}

/** Throws with the seed, the database and the question if the two differ. */
export async function compareSides(seed: number, questions: number, servers: readonly TestServer[], tally: Tally) {
  const { world, random } = createAnalyticWorld(seed);
  const subjects: { dialect: Dialect; connection: DirectConnection; drop(): Promise<void> }[] = [];
  try {
    for (const server of servers) {
      const database = await server.create();
      await createTables(world, database);
      const connection = await openForAnalysis(world, zones, database);
      subjects.push({ dialect: database.dialect, connection, drop: () => database.drop() });
    }
    for (let turn = 0; turn < questions; turn++) {
      const asked = createAsked(world, random, tally);
      const { question, scopes, zone } = asked;
      const table = world.tables.find(({ name }) => name === question.collectionName)!;
      if (question.filters && isRefused(world, table, question.filters)) throw new Error('an ambiguous filter');
      for (const [at, subject] of subjects.entries()) {
        const meaning: Meaning = { world, scopes, zone, ...habitsOf(subject.dialect) };
        const answer = interpretAnalysis(meaning, question);
        if (at === 0) count(tally, asked, answer);
        const told = `seed ${seed}, question ${turn}, ${subject.dialect}`;
        const ask = async ({ question: smaller, scopes: fewer }: Asked) => {
          const where = { ...meaning, scopes: fewer };
          await compareWithSql(subject, where, smaller, interpretAnalysis(where, smaller), seed + turn, told);
        };
        await ask(asked).catch((cause: unknown) => failWithSmallest(asked, ask, told, cause));
      }
    }
  } finally {
    for (const { connection, drop } of subjects) {
      await connection.end();
      await drop();
    }
  }
}
