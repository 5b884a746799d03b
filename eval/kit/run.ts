// Runs the tasks of an evaluation in sequence, because the writes of a task affect the next one.
import { AppError } from '../../src/core/errors.ts';
import type { Evaluation, Task, Value } from './definitions.ts';
import { type Answer, judge, parseAnswer } from './judge.ts';
import { fill, type ReferenceContext } from './values.ts';

/** The server that receives the calls. */
export interface Target {
  call(caller: Caller, tool: string, args: Value): Promise<Answer>;
  /** Returns the tools and instructions that every conversation starts with. */
  greeting(): Promise<string>;
  readonly ask: ReferenceContext['ask'];
}

type Caller = Pick<Task, 'as' | 'query'>;
export type CountTokens = (text: string) => number;

export interface TaskResult {
  readonly says: string;
  readonly calls: number;
  /** Tokens of the arguments that a model writes. */
  readonly written: number;
  /** Tokens of the answers that a model reads. */
  readonly read: number;
  readonly problems: readonly string[];
}

export interface Report {
  readonly title: string;
  /** Tokens of the tools and instructions, once per conversation. */
  readonly greeting: number;
  readonly tasks: readonly TaskResult[];
}

export async function runEvaluation({ title, tasks }: Evaluation, target: Target, count: CountTokens): Promise<Report> {
  const results: TaskResult[] = [];
  for (const task of tasks) results.push(await runTask(task, target, count));
  return { title, greeting: count(await target.greeting()), tasks: results };
}

async function runTask(task: Task, target: Target, count: CountTokens): Promise<TaskResult> {
  const answers = new Map<string, unknown>();
  const context: ReferenceContext = { answers, ask: target.ask };
  const problems: string[] = [];
  let calls = 0;
  let written = 0;
  let read = 0;
  for (const [index, { tool, arguments: input, name, expect }] of task.calls.entries()) {
    try {
      const args = fill(input, context);
      const answer = await target.call(task, tool, args);
      calls++;
      written += count(JSON.stringify({ name: tool, arguments: args }));
      read += count(answer.text);
      if (name !== undefined) answers.set(name, parseAnswer(answer));
      problems.push(...judge(answer, expect, context).map((problem) => `call ${index + 1}, ${tool}: ${problem}`));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      problems.push(`call ${index + 1}, ${tool}: ${error.message}`);
      break;
    }
  }
  const spent = written + read;
  if (task.tokens !== undefined && spent > task.tokens) problems.push(`${spent} tokens; the limit is ${task.tokens}`);
  return { says: task.says, calls, written, read, problems };
}
