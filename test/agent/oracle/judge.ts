// Runs the same random questions on every source and compares the results with their meaning.
import { expect } from 'vitest';
import { createHeadlessAgent } from '../../../src/agent/agent.ts';
import type { Engine } from '../../../src/agent/engine.ts';
import type { Source } from '../../../src/agent/sources/source.ts';
import { type Access, allowPolicy } from '../../../src/core/caller.ts';
import { type Clock, systemClock } from '../../../src/core/clock.ts';
import type { PlainFilter } from '../../../src/core/filter.ts';
import type { TestServer } from '../../databases.ts';
import { type Filter, isRefused } from './filters.ts';
import { findParent, interpret, type Meaning, type Question } from './interpreter.ts';
import { createRandom, type Random } from './random.ts';
import { createQuestion, createRelatedQuestion, createScopes, createZone } from './requests.ts';
import { type Case, isWrongAnswer, showSmallest } from './shrink.ts';
import { openDirectly } from './sql-values.ts';
import { createMemoryTables, createTables } from './tables.ts';
import { compareWithSql, createTally, type Direct, hasQuantifier, type Tally } from './third.ts';
import { customizeWorld, twistWorld } from './twists.ts';
import { addFirsts, createWorld, type World } from './world.ts';
import { customizeWrites } from './write-twists.ts';

export type OpenSource = (url: string, clock: Clock) => Source | Promise<Source>;

export interface Subject {
  readonly name: string;
  readonly engine: Engine;
  readonly ignoresCase: boolean;
  readonly choiceIsText: boolean;
  readonly uuidBackwards: boolean;
  /** Number of statements since the last call. */
  statements(): number;
  /** A separate connection to the same tables. */
  readonly direct?: Direct;
  drop(): Promise<void>;
}

/** Throws with the seed, the source and the question if a result is wrong. */
export async function judge(
  seed: number,
  questions: number,
  servers: readonly TestServer[],
  open: OpenSource,
): Promise<Tally> {
  const tally = createTally();
  const random = createRandom(seed);
  const world = addFirsts(createWorld(random));
  // Every third world has no customizations, to test both paths.
  if (seed % 3 > 0) twistWorld(world, random);
  const clock = { ...systemClock, now: () => world.now };
  const subjects = [await subject('memory', createMemoryTables(world), world, clock)];
  try {
    for (const server of servers) {
      const database = await server.create();
      await createTables(world, database);
      const source = await open(database.url, clock);
      const direct = { dialect: database.dialect, connection: await openDirectly(database) };
      const drop = async () => {
        await direct.connection.end();
        await database.drop();
      };
      subjects.push({ ...(await subject(database.dialect, source, world, clock, drop)), direct });
    }
    await askAll(seed, questions, world, random, subjects, 1, tally);
    return tally;
  } finally {
    await closeAll(subjects);
  }
}

/** The same, with the tables divided between two sources of one kind, and no limit on statements. */
export async function judgeAcross(seed: number, questions: number, servers: readonly TestServer[], open: OpenSource) {
  const random = createRandom(seed);
  const world = addFirsts(createWorld(random));
  if (seed % 3 > 0) twistWorld(world, random);
  const clock = { ...systemClock, now: () => world.now };
  const { away, near, far } = divideWorld(world, random);
  const memory = { source: createMemoryTables(world, far), tables: away };
  const subjects = [await subject('memory', createMemoryTables(world, near), world, clock, undefined, memory)];
  try {
    for (const server of servers) subjects.push(await dividedSubject(world, { away, near, far }, server, open, clock));
    await askAll(seed, questions, world, random, subjects, Number.POSITIVE_INFINITY, createTally());
  } finally {
    await closeAll(subjects);
  }
}

/** A database that cannot be dropped does not hide a test failure. */
async function closeAll(subjects: readonly Subject[]): Promise<void> {
  for (const each of subjects) {
    await each.engine.close();
    await each.drop().catch((cause: unknown) => console.warn(`${each.name} was not dropped: ${cause}`));
  }
}

type Division = ReturnType<typeof divideWorld>;

export async function dividedSubject(
  world: World,
  { away, near, far }: Division,
  server: TestServer,
  open: OpenSource,
  clock: Clock,
): Promise<Subject> {
  const [one, two] = [await server.create(), await server.create()];
  await createTables(world, one, near);
  await createTables(world, two, far);
  const other = { source: await open(two.url, clock), tables: away };
  const drop = async () => {
    await one.drop();
    await two.drop();
  };
  return subject(one.dialect, await open(one.url, clock), world, clock, drop, other);
}

/** Divides the tables between two sources. */
export function divideWorld(world: World, random: Random) {
  // A composite key cannot relate across sources.
  const isWide = world.tables.some(({ name, key }) => name === 'regions' && key.length > 1);
  const free = world.tables
    .map(({ name }) => name)
    .filter((name) => name !== 'orders' && !(isWide && name === 'regions'));
  const away = new Set(random.some(isWide ? free.filter((name) => name !== 'people') : free, 1, 4));
  const near = world.tables.filter(({ name }) => !away.has(name));
  const far = world.tables.filter(({ name }) => away.has(name));
  return { away, near, far };
}

async function askAll(
  seed: number,
  questions: number,
  world: World,
  random: Random,
  subjects: readonly Subject[],
  most: number,
  tally: Tally,
): Promise<void> {
  for (let count = 0; count < questions; ) {
    const zone = createZone(random);
    const scopes = random.chance(0.6) ? createScopes(world, random, true) : {};
    const access = accessWith(scopes, zone);
    for (let turn = 0; turn < 5 && count < questions; turn++, count++) {
      const question = random.chance(0.25) ? createRelatedQuestion(world, random) : createQuestion(world, random);
      const page = { limit: 1 + random.number(12), skip: random.chance(0.2) ? random.number(8) : 0 };
      const walks = random.chance(0.25);
      const allowed = question.isMixed ? Number.POSITIVE_INFINITY : most;
      const asked = world.tables.find((each) => each.name === question.table)!;
      const isWrong = question.filter !== undefined && isRefused(world, asked, question.filter);
      tally.asked++;
      if (isWrong) tally.refused++;
      if (hasQuantifier(question.filter)) tally.quantified++;
      let outside: string | undefined;
      for (const each of subjects) {
        const told = `seed ${seed}, question ${count}, ${each.name}: ${JSON.stringify({ question, page, zone, scopes })}`;
        const meaning = { world, scopes, zone, ...each };
        if (isWrong) {
          await expectRefusal(each, access, question, page, told);
          continue;
        }
        const expected = interpret(meaning, question);
        try {
          if (each.direct)
            outside = await compareWithSql(each.direct, meaning, question, page, expected, seed + count, told);
          await compare(each, access, question, page, meaning, expected, allowed, told);
        } catch (cause) {
          const ask = (by: Subject, smaller: Case) => askOnce(world, zone, by, smaller);
          throw isWrongAnswer(cause) ? await showSmallest(world, { question, scopes }, subjects, ask, cause) : cause;
        }
        if (!walks || asked.key.length === 0 || (question.within && expected.length === 0)) continue;
        await compareWalk(each, access, question, page.limit, expected, allowed, told);
        const label = asked.columns.find(({ kind, name }) => kind === 'label' && !asked.twists.removed.has(name))?.name;
        if (label)
          await compareLabelWalk(
            each,
            access,
            question,
            asked.twists.renames.get(label) ?? label,
            page.limit,
            expected,
            allowed,
            told,
          );
      }
      if (isWrong) continue;
      if (outside !== undefined) tally.outside[outside] = (tally.outside[outside] ?? 0) + 1;
      else if (subjects.some(({ direct }) => direct)) tally.threeWay++;
    }
  }
}

/** Runs without paging, so a failure shows the whole result. */
async function askOnce(world: World, zone: string, subject: Subject, { question, scopes }: Case): Promise<void> {
  const page = { limit: 1000, skip: 0 };
  const meaning = { world, scopes, zone, ...subject };
  const expected = interpret(meaning, question);
  if (subject.direct) await compareWithSql(subject.direct, meaning, question, page, expected, 0, 'plain SQL');
  const access = accessWith(scopes, zone);
  await compare(subject, access, question, page, meaning, expected, Number.POSITIVE_INFINITY, 'engine');
}

export async function subject(
  name: string,
  source: Source,
  world: World,
  clock: Clock,
  drop = async () => {},
  other?: { readonly source: Source; readonly tables: ReadonlySet<string> },
): Promise<Subject> {
  let statements = 0;
  const counted: Source = {
    name: source.name,
    describe: () => source.describe(),
    read(select, options) {
      statements++;
      return source.read(select, options);
    },
    count(select, options) {
      statements++;
      return source.count(select, options);
    },
    explain: (select) => source.explain(select),
    ...(source.readsAfter && { readsAfter: source.readsAfter }),
    ...(source.writing && { writing: source.writing }),
    close: () => source.close(),
  };
  const agent = createHeadlessAgent().addDataSource(() => counted);
  if (other) agent.addDataSource(() => other.source);
  customizeWorld(world, agent, other?.tables);
  customizeWrites(world, agent);
  const limits = { pageSizeLimit: 1000, queryTimeoutMs: 20_000 };
  return {
    name,
    engine: await agent.createEngine({ observe: () => {}, clock, limits }),
    ignoresCase: name !== 'postgres',
    choiceIsText: name === 'sqlite',
    uuidBackwards: name === 'mariadb',
    statements() {
      const seen = statements;
      statements = 0;
      return seen;
    },
    drop,
  };
}

export function accessWith(scopes: Readonly<Record<string, Filter>>, timezone: string): Access {
  const caller = { id: 1, email: '', firstName: '', lastName: '', team: '', role: '', tags: {}, timezone };
  return {
    caller: { ...caller, permissionLevel: 'user', renderingId: 1 },
    can: () => true,
    startsWorkflows: true,
    collections: null,
    canTrigger: () => true,
    triggerCondition: () => null,
    hasPolicies: false,
    mayCascade: () => true,
    policy: () => allowPolicy,
    actionPolicy: () => allowPolicy,
    field: () => 'write',
    scope: (collection) => (scopes[collection] as PlainFilter | undefined) ?? null,
  };
}

function request(question: Question, page: { limit: number; skip?: number; cursor?: string }) {
  return {
    fields: question.fields,
    sort: question.sort,
    ...(question.filter && { filter: question.filter as PlainFilter }),
    ...(question.search && { search: question.search }),
    ...(question.extended && { searchExtended: true }),
    ...(question.segment && { segment: question.segment }),
    ...(question.zone && { timezone: question.zone }),
    ...page,
  };
}

type Asked = ReturnType<typeof request>;

const from = ({ table, relation, key }: NonNullable<Question['within']>) => ({
  collection: table,
  relation,
  id: key as never,
});

const list = (engine: Engine, access: Access, { within, table }: Question, asked: Asked) =>
  within
    ? engine.listRelated(access, { ...asked, ...from(within) })
    : engine.list(access, { ...asked, collection: table });

const count = (engine: Engine, access: Access, { within, table }: Question, asked: Asked) =>
  within
    ? engine.countRelated(access, { ...asked, ...from(within) })
    : engine.count(access, { ...asked, collection: table });

async function compare(
  { engine, statements }: Subject,
  access: Access,
  question: Question,
  page: { limit: number; skip: number },
  meaning: Meaning,
  expected: unknown[][],
  most: number,
  told: string,
): Promise<void> {
  const wanted = request(question, page);
  if (question.within && !findParent(meaning, question.within)) {
    const missing = expect.objectContaining({ code: 'RECORD_NOT_FOUND' });
    await expect(list(engine, access, question, wanted), told).rejects.toEqual(missing);
    await expect(count(engine, access, question, wanted), told).rejects.toEqual(missing);
    statements();
    return;
  }
  const [answer, listed] = await attempt(
    told,
    async () => [await list(engine, access, question, wanted), statements()] as const,
  );
  const [counted] = await attempt(
    told,
    async () => [await count(engine, access, question, wanted), statements()] as const,
  );
  const shown = expected.slice(page.skip, page.skip + page.limit);
  const actual = { rows: answer.rows, hasMore: answer.hasMore, count: counted };
  expect(actual, told).toEqual({
    rows: shown,
    hasMore: expected.length > page.skip + page.limit,
    count: expected.length,
  });
  // If no row is found, another statement checks that the parent exists.
  expect(listed, told).toBeLessThanOrEqual(question.within && shown.length === 0 ? most + 1 : most);
  if (shown.length && most === 1) expect(listed, told).toBe(1);
}

/** Ambiguous filters, and negative conditions behind a relation to many, are refused. */
async function expectRefusal(
  { engine, statements }: Subject,
  access: Access,
  question: Question,
  page: { limit: number; skip: number },
  told: string,
): Promise<void> {
  const refusal = expect.objectContaining({ code: 'AMBIGUOUS_FILTER' });
  await expect(list(engine, access, question, request(question, page)), told).rejects.toEqual(refusal);
  await expect(count(engine, access, question, request(question, page)), told).rejects.toEqual(refusal);
  expect(statements(), told).toBe(0);
}

async function compareWalk(
  subject: Subject,
  access: Access,
  question: Question,
  limit: number,
  expected: unknown[][],
  statements: number,
  told: string,
): Promise<void> {
  expect(await walk(subject, access, question, limit, expected.length, statements, told), `walk, ${told}`).toEqual(
    expected,
  );
}

/** Databases order case-insensitive texts differently. In any order, every record must come once. */
async function compareLabelWalk(
  subject: Subject,
  access: Access,
  question: Question,
  label: string,
  limit: number,
  expected: unknown[][],
  statements: number,
  told: string,
): Promise<void> {
  const sorted = { ...question, sort: [{ field: label, ascending: limit % 2 === 0 }] };
  const rows = await walk(subject, access, sorted, limit, expected.length, statements, `by label, ${told}`);
  const texts = (list: readonly unknown[]) => list.map((row) => JSON.stringify(row)).sort();
  expect(texts(rows), `by label, ${told}`).toEqual(texts(expected));
}

/** Reads all pages, by cursor or by offset, each within the allowed number of statements. */
async function walk(
  { engine, statements }: Subject,
  access: Access,
  question: Question,
  limit: number,
  most: number,
  allowed: number,
  told: string,
): Promise<unknown[]> {
  const rows: unknown[] = [];
  let cursor: string | undefined;
  let hasMore = true;
  while (hasMore && rows.length <= most) {
    // There is no cursor if the sort uses values that the caller does not see.
    const wanted = request(question, { limit, ...(cursor ? { cursor } : { skip: rows.length }) });
    const answer = await attempt(`walk, ${told}`, () => list(engine, access, question, wanted));
    rows.push(...answer.rows);
    expect(statements(), `walk, ${told}`).toBeLessThanOrEqual(allowed);
    hasMore = answer.hasMore;
    cursor = hasMore ? answer.cursorAfter(answer.rows.length - 1) : undefined;
  }
  return rows;
}

export async function attempt<T>(told: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (cause) {
    throw new Error(`${told}: ${cause}`, { cause });
  }
}

export function seedFrom(text: string | undefined): number {
  return text ? Number(text) : Math.floor(Math.random() * 2 ** 31);
}
