import { alignColumns } from '../../src/cli/terminal.ts';
import type { Report, TaskResult } from './run.ts';

const MAX_TITLE_LENGTH = 76;

export function hasFailed({ tasks }: Report): boolean {
  return tasks.some(({ problems }) => problems.length > 0);
}

/**
 * Returns a table of the tasks, the problems of failed tasks, and the totals. `counted`: the method of counting tokens.
 */
export function composeReport(report: Report, counted: string): string {
  const { title, tasks, greeting } = report;
  const heads = ['', 'CALLS', 'WRITTEN', 'READ', 'TOKENS', 'TASK'];
  const rows = tasks.map((task) => [
    task.problems.length === 0 ? 'ok' : 'FAILED',
    ...[task.calls, task.written, task.read, spentOn(task)].map(String),
    clip(task.says),
  ]);
  const failures = tasks
    .filter(({ problems }) => problems.length > 0)
    .flatMap(({ says, problems }) => ['', `FAILED: ${says}`, ...problems.map((problem) => `  ${problem}`)]);
  return [
    title,
    '',
    ...alignColumns([heads, ...rows]),
    ...failures,
    '',
    ...summarize(report, counted, greeting),
    '',
  ].join('\n');
}

function summarize({ tasks }: Report, counted: string, greeting: number): string[] {
  const spent = tasks.map(spentOn);
  const total = spent.reduce((sum, one) => sum + one, 0);
  const biggest = tasks[spent.indexOf(Math.max(...spent))];
  const passed = tasks.filter(({ problems }) => problems.length === 0).length;
  return [
    `${passed} of ${tasks.length} tasks passed, in ${tasks.reduce((sum, { calls }) => sum + calls, 0)} calls.`,
    `${total} tokens (${counted}): ${median(spent)} for the median task, ${Math.max(...spent)} for the largest ('${clip(biggest?.says ?? '')}').`,
    `Tools and instructions, once per conversation: ${greeting} tokens.`,
  ];
}

const spentOn = ({ written, read }: TaskResult): number => written + read;

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
  return Math.round((upper + lower) / 2);
}

const clip = (text: string): string =>
  text.length > MAX_TITLE_LENGTH ? `${text.slice(0, MAX_TITLE_LENGTH - 3)}...` : text;
