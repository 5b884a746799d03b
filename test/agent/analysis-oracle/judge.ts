// Sends the same random questions to the tool `aggregate` over every source, and compares its answers with what the
// questions mean and what plain SQL returns.
import { expect } from 'vitest';
import type { Source } from '../../../src/agent/sources/source.ts';
import { createSqlSource } from '../../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { Dialect, TestServer } from '../../databases.ts';
import { ask as callTool } from '../../mcp/asking.ts';
import { type McpTestServer, openMcpServer } from '../../mcp/mcp-server.ts';
import type { Meaning } from '../oracle/interpreter.ts';
import { accessWith } from '../oracle/judge.ts';
import type { DirectConnection } from '../oracle/sql-values.ts';
import { createMemoryTables, createTables } from '../oracle/tables.ts';
import { customizeWorld } from '../oracle/twists.ts';
import type { World } from '../oracle/world.ts';
import { openForAnalysis } from './direct.ts';
import { exact, show } from './exact.ts';
import { isOrdered } from './generator.ts';
import type { Answer } from './level.ts';
import { interpretAnalysis } from './meaning.ts';
import type { Aggregate, ColumnKind, Group } from './question.ts';
import { createRefused } from './refused.ts';
import {
  type Asked, compareWithSql, count, createAnalyticWorld, createAsked, failWithSmallest, habitsOf, type Tally, textsOf,
  zones,
} from './sides.ts'; // biome-ignore format: one family

interface Subject {
  readonly name: Dialect | 'memory';
  readonly server: McpTestServer;
  /** The row scopes and timezone of the caller's next calls. */
  readonly rights: { scopes: Asked['scopes']; zone: string };
  readonly direct?: { readonly dialect: Dialect; readonly connection: DirectConnection };
  close(): Promise<void>;
}

/** Throws with the seed, the source and the smallest question if an answer is wrong. */
export async function judgeAnalysis(seed: number, questions: number, servers: readonly TestServer[], tally: Tally) {
  const { world, random } = createAnalyticWorld(seed);
  const subjects: Subject[] = [];
  try {
    subjects.push(await openSubject('memory', createMemoryTables(world), world));
    for (const server of servers) subjects.push(await openDatabase(server, world));
    for (let turn = 0; turn < questions; turn++) {
      const told = `seed ${seed}, question ${turn}`;
      if (random.chance(0.05)) {
        const refused = createRefused(world, random);
        for (const subject of subjects) await expectRefusal(subject, refused, `${told}, ${subject.name}`);
        tally.refused++;
        continue;
      }
      const asked = createAsked(world, random, tally);
      const limit = random.chance(0.3) ? 1 + random.number(4) : 500;
      for (const [at, subject] of subjects.entries()) {
        const ask = (smaller: Asked) => askOnce(world, subject, smaller, limit, seed + turn);
        const answer = await ask(asked).catch((cause: unknown) => {
          if (subject.name === 'sqlite' && isBeyond(cause)) {
            tally.beyond++;
            return undefined;
          }
          return failWithSmallest(
            asked,
            async (smaller) => void (await ask(smaller)),
            `${told}, ${subject.name}`,
            cause,
          );
        });
        if (at === 0 && answer) count(tally, asked, answer);
      }
    }
  } finally {
    for (const subject of subjects) await subject.close();
  }
}

/** One question to one database, in the world of a seed. */
export async function judgeQuestion(seed: number, asked: Asked, server: TestServer): Promise<void> {
  const { world } = createAnalyticWorld(seed);
  const subject = await openDatabase(server, world);
  try {
    await askOnce(world, subject, asked, 500, seed);
  } finally {
    await subject.close();
  }
}

/** Where SQLite cannot calculate exactly, records are read, which some conditions and groups do not allow. */
const isBeyond = (cause: unknown): boolean => /beyond 64 bits/.test(String((cause as { actual?: unknown }).actual));

async function openSubject(name: Subject['name'], source: Source, world: World): Promise<Subject> {
  const rights: Subject['rights'] = { scopes: {}, zone: 'UTC' };
  const server = await openMcpServer({
    source,
    customize: (agent) => customizeWorld(world, agent),
    access: () => accessWith(rights.scopes, rights.zone),
    clock: { ...systemClock, now: () => world.now },
  });
  return { name, server, rights, close: () => server.close() };
}

async function openDatabase(server: TestServer, world: World): Promise<Subject> {
  const database = await server.create();
  await createTables(world, database);
  const clock = { ...systemClock, now: () => world.now };
  const subject = await openSubject(
    database.dialect,
    await createSqlSource(database.url, { clock, observe: () => {} }),
    world,
  );
  const connection = await openForAnalysis(world, zones, database);
  const close = async () => {
    await subject.close();
    await connection.end();
    await database.drop();
  };
  return { ...subject, direct: { dialect: database.dialect, connection }, close };
}

/** Throws an AssertionError if the tool or SQL gives another answer. */
async function askOnce(
  world: World,
  subject: Subject,
  { question, scopes, zone }: Asked,
  limit: number,
  turn: number,
): Promise<Answer> {
  const meaning: Meaning = { world, scopes, zone, ...habitsOf(subject.name) };
  const answer = interpretAnalysis(meaning, question);
  if (subject.direct) await compareWithSql(subject.direct, meaning, question, answer, turn, `SQL of ${subject.name}`);
  Object.assign(subject.rights, { scopes, zone });
  const ordered = isOrdered(world, question);
  // In another order, the rows of a page are others.
  const rows = await readAll(subject, question, ordered ? limit : 500, answer.rows.length);
  const found = rows.map((row) => engineTexts(question, answer.kinds, row));
  const wanted = answer.rows.map((row) => textsOf(answer.kinds, row));
  const sorted = (list: readonly unknown[]) => (ordered ? list : list.map((row) => JSON.stringify(row)).sort());
  expect(sorted(found), `aggregate of ${subject.name}`).toEqual(sorted(wanted));
  return answer;
}

/** The rows of all pages. */
async function readAll({ server }: Subject, question: Aggregate, limit: number, most: number): Promise<unknown[][]> {
  const rows: unknown[][] = [];
  let cursor: string | undefined;
  do {
    const text = await callTool(server, 'aggregate', { ...question, limit, ...(cursor !== undefined && { cursor }) });
    if (!text.startsWith('{')) expect(text, 'the tool refused').toBe('an answer');
    const page = JSON.parse(text) as { rows: unknown[][]; hasMore: boolean; nextCursor?: string };
    expect(page.rows.length, 'rows of a page').toBeLessThanOrEqual(limit);
    expect(page.nextCursor !== undefined, 'a cursor, if there is more').toBe(page.hasMore);
    rows.push(...page.rows);
    cursor = page.nextCursor;
  } while (cursor !== undefined && rows.length <= most);
  return rows;
}

/** Earlier figures after all others, ranges by their position, numbers by their digits. */
function engineTexts({ groups = [], compare, over }: Aggregate, kinds: readonly ColumnKind[], row: readonly unknown[]) {
  const figures = row.slice(over ? 0 : groups.length);
  const isPrevious = (at: number) => compare !== undefined && at % 2 === 1;
  const ordered = [
    ...row.slice(0, over ? 0 : groups.length),
    ...figures.filter((_, at) => !isPrevious(at)),
    ...figures.filter((_, at) => isPrevious(at)),
  ];
  return textsOf(
    kinds,
    ordered.map((value, at) => {
      if (value === null) return null;
      if (kinds[at] === 'range') return positionOf(groups[at]!, value);
      return typeof value === 'number' && kinds[at] !== 'part' ? show(exact(value)) : value;
    }),
  );
}

function positionOf(group: Group, value: unknown): number | string {
  const { ranges } = group as { readonly ranges: readonly number[] };
  const names = [`..${ranges[0]}`, ...ranges.slice(1).map((end, at) => `${ranges[at]}..${end}`), `${ranges.at(-1)}..`];
  const found = names.indexOf(String(value));
  return found < 0 ? `no range: ${value}` : found;
}

async function expectRefusal(
  { server, rights }: Subject,
  { body, reason, code }: ReturnType<typeof createRefused>,
  told: string,
): Promise<void> {
  Object.assign(rights, { scopes: {}, zone: 'UTC' });
  const text = await callTool(server, 'aggregate', body as Record<string, unknown>);
  expect(text, `${told}, ${reason}: ${JSON.stringify(body)}`).toMatch(code);
}
