// `npm run eval:defog -- <folder>`: asks the questions of a folder through the MCP tools, with recorded calls, and
// compares the answers with the rows that the SQL of the questions returns. See README.md.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { type Agent, createSqlDataSource } from '../../src/index.ts';
import { createTestableAgent, type McpTestClient, McpToolError } from '../../src/testing/index.ts';
import { fill } from '../kit/values.ts';
import { fillDays, type Recorded, readCalls } from './calls.ts';
import { hasRows } from './compare.ts';
import { type Database, openDatabase } from './database.ts';
import { type Question, readQuestions } from './questions.ts';

const outcomes = ['equal', 'different', 'refused', 'unanswerable', 'no call recorded'] as const;

interface Result {
  readonly outcome: (typeof outcomes)[number];
  readonly calls: number;
  readonly callTokens: number;
  readonly answerTokens: number;
  /** Nothing was expected, and nothing shown. */
  readonly isEmpty?: boolean;
  readonly detail?: string;
}

interface TableAnswer {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  readonly hasMore?: boolean;
}

const [folder, callsFolder = import.meta.dirname] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write(
    'Usage: npm run eval:defog -- <folder with questions.csv and the scripts> [folder with calls]\n',
  );
  process.exit(2);
}
const server = process.env.TEST_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres';
const results: Result[] = [];
// A folder with calls may have questions of its own over the same databases.
const questions = readQuestions(existsSync(join(callsFolder, 'questions.csv')) ? callsFolder : folder);
for (const name of new Set(questions.map(({ database }) => database))) {
  const own = questions.filter(({ database }) => database === name);
  results.push(...(await runDatabase(name, own)));
}
process.stdout.write(summary(results));
process.exit(results.some(({ outcome }) => outcome === 'different') ? 1 : 0);

async function runDatabase(name: string, own: readonly Question[]): Promise<Result[]> {
  const found: Result[] = [];
  const recorded = readCalls(callsFolder, name);
  const customize = await readCustomizer(join(import.meta.dirname, `${name}.ts`));
  const database = await openDatabase(server, join(folder!, `${name}.sql`));
  try {
    const { mcp, close } = await createTestableAgent((agent) => {
      agent.addDataSource(createSqlDataSource(database.url));
      customize(agent);
    });
    try {
      for (const question of own) {
        const result = await ask(question, recorded[question.key], mcp, database);
        process.stdout.write(line(question, result));
        found.push(result);
      }
    } finally {
      await close();
    }
  } finally {
    await database.drop();
  }
  return found;
}

async function readCustomizer(path: string): Promise<(agent: Agent) => void> {
  if (!existsSync(path)) return () => undefined;
  return ((await import(pathToFileURL(resolve(path)).href)) as { customize: (agent: Agent) => void }).customize;
}

async function ask(
  question: Question,
  recorded: Recorded | undefined,
  mcp: McpTestClient,
  database: Database,
): Promise<Result> {
  const nothing = { calls: 0, callTokens: 0, answerTokens: 0 };
  if (!recorded) return { ...nothing, outcome: 'no call recorded' };
  if ('unanswerable' in recorded) return { ...nothing, outcome: 'unanswerable', detail: recorded.unanswerable };
  const answers = new Map<string, unknown>();
  let [callTokens, answerTokens] = [0, 0];
  let refusal: string | undefined;
  for (const [at, { tool, args }] of recorded.calls.entries()) {
    // A call that needs the answer of a refused one cannot be sent.
    if (refusal !== undefined && JSON.stringify(args).includes(`"$ref":"${at}.`)) break;
    const sent = fillDays(fill(args, { answers, ask: undefined }), new Date()) as Record<string, unknown>;
    callTokens += countTokens(JSON.stringify({ name: tool, arguments: sent }));
    refusal = undefined;
    try {
      const answer: unknown = await mcp.call(tool, sent);
      answerTokens += countTokens(JSON.stringify(answer));
      answers.set(String(at + 1), answer);
    } catch (error) {
      // The next call may correct this one.
      if (!(error instanceof McpToolError)) throw error;
      refusal = error.text;
      answerTokens += countTokens(refusal);
    }
  }
  const figures = { calls: recorded.calls.length, callTokens, answerTokens };
  if (refusal !== undefined) return { ...figures, outcome: 'refused', detail: refusal };
  const answer = answers.get(String(figures.calls)) as TableAnswer;
  const difference = await compare(question, answer, database);
  if (difference !== undefined) return { ...figures, outcome: 'different', detail: difference };
  return { ...figures, outcome: 'equal', isEmpty: answer.rows.length === 0 };
}

/** Returns undefined if the answer has the rows of one of the statements, else both. */
async function compare({ sql, ordered }: Question, answer: TableAnswer, database: Database) {
  const expected = [];
  for (const statement of sql) expected.push(await database.ask(statement));
  if (expected.some((one) => hasRows(one, answer.rows, ordered))) return undefined;
  const { rows = [], limit } = expected[0] ?? {};
  return `expected ${JSON.stringify(rows.slice(0, limit))}\n    got ${JSON.stringify(answer)}`;
}

function line(
  { id, database }: Question,
  { outcome, calls, callTokens, answerTokens, isEmpty, detail }: Result,
): string {
  const figures =
    calls > 0 ? `, ${calls} ${calls === 1 ? 'call' : 'calls'}, ${callTokens} + ${answerTokens} tokens` : '';
  return `${database} ${id}: ${outcome}${isEmpty ? ' without rows' : ''}${figures}\n${detail === undefined ? '' : `    ${detail}\n`}`;
}

function summary(all: readonly Result[]): string {
  const part = (count: number) =>
    `${count} of ${all.length} (${((100 * count) / Math.max(1, all.length)).toFixed(1)} %)`;
  const of = (one: Result['outcome']) => all.filter(({ outcome }) => outcome === one);
  const total = (name: 'callTokens' | 'answerTokens') => all.reduce((sum, result) => sum + result[name], 0);
  const inOne = of('equal').filter(({ calls }) => calls === 1).length;
  return `\n${outcomes.map((outcome) => `${outcome}: ${part(of(outcome).length)}\n`).join('')}equal in one call: ${part(inOne)}
equal without rows: ${part(of('equal').filter(({ isEmpty }) => isEmpty).length)}
tokens: ${total('callTokens')} in calls, ${total('answerTokens')} in answers\n`;
}
