// One cell of the table: an operation at one entry point under one policy. The result is compared with the table, and
// the database and the activity log with the result.
import type { ActivityEntry } from '../../src/store/audit/activity-types.ts';
import type { Entry } from './entries/entry.ts';
import { type End, type OperationName, operationOf } from './operations.ts';
import { expectedChanges, expectedEnd, type Policy } from './oracle.ts';
import type { World } from './world.ts';

export interface Walked {
  readonly cells: number;
  /** The differences from the table, one per line. */
  readonly wrong: readonly string[];
}

/** The outcome in the log entry. A call without a signed-in user has no entry. */
const outcomes: Readonly<Record<End, RegExp>> = {
  done: /^completed$/,
  waits: /^denied (APPROVAL_PENDING|NEEDS_APPROVAL)$/,
  absent: /^(failed|denied) \w+$/,
  forbidden: /^denied (FORBIDDEN|REMOTE_TOOL_NOT_ALLOWED)$/,
  invalid: /^failed INVALID_RECORD$/,
  missing: /^failed RECORD_NOT_FOUND$/,
  nothing: /^failed INVALID_ARGUMENT$/,
  'no consent': /^denied INSUFFICIENT_SCOPE$/,
  overtaken: /^failed APPROVAL_OVERTAKEN$/,
  'signed out': /^$/,
  limited: /^$/,
};

const outcomesOfRuns: Partial<typeof outcomes> = {
  // The last step before it is completed.
  waits: /^completed$/,
};

export interface Walk {
  readonly world: World;
  readonly entry: Entry;
  readonly policy: Policy;
  readonly operations?: readonly OperationName[];
  /** Overrides the table for this entry point. Each use has its reason beside it. */
  readonly expect?: (operation: OperationName, end: End) => End;
  /** An approved operation may end as overtaken instead of done, without a write. */
  readonly mayBeVoid?: boolean;
}

export async function walk({
  world,
  entry,
  policy,
  operations,
  expect = (_, end) => end,
  mayBeVoid,
}: Walk): Promise<Walked> {
  const wrong: string[] = [];
  let cells = 0;
  await world.logged();
  for (const operation of operations ?? entry.operations) {
    cells++;
    const { end, text } = await entry.act(operation);
    if (operation === 'start' && end === 'done') await world.runsEnded();
    const isVoid = mayBeVoid && (end === 'overtaken' || end === 'waits');
    const ended = expect(operation, expectedEnd(operation, policy));
    const expected = isVoid && ended === 'done' ? 'overtaken' : ended;
    const say = (problem: string) => wrong.push(`${operation}: ${problem}`);
    // An entry point that does not offer the operation refuses it without a call.
    const isGone = end === 'gone' && (expected === 'absent' || expected === 'forbidden');
    if (end !== expected && !isGone && !(isVoid && expected === 'overtaken'))
      say(`${end}, not ${expected} (${text.slice(0, 160)})`);
    const changes = await world.changes();
    const should = expectedChanges(operation, expected);
    if (changes.join('\n') !== should.join('\n'))
      say(`changed ${JSON.stringify(changes)}, not ${JSON.stringify(should)}`);
    for (const secret of policy.hides ?? []) if (saysMore(text, secret)) say(`shows ${secret}: ${text.slice(0, 160)}`);
    const entries = (await world.logged()).filter((one, _, { length }) => isOfCall(one, length, entry));
    const logged = entries.map(({ outcome, code }) => [outcome, code].filter(Boolean).join(' ')).at(-1) ?? '';
    const outcome = { ...outcomes, ...(entry.isRun && outcomesOfRuns) }[expected];
    if (!(isGone ? /^$/ : outcome).test(logged)) say(`the log says '${logged}' of ${expected}`);
    const isWrite = operationOf(operation).does !== undefined;
    const type = entries.at(-1)?.type;
    if (expected === 'done' && !entry.isRun && type !== (isWrite ? 'write' : 'read'))
      say(`the log says it was a ${type}`);
  }
  return { cells, wrong };
}

function isOfCall({ action, type, code, clientId }: ActivityEntry, all: number, { isRun, isLater }: Entry): boolean {
  // The log has the entries of the run besides the call that started it.
  if ((clientId === 'workflow') !== (isRun === true)) return false;
  if (isLater) return type === 'write' && code !== 'APPROVAL_PENDING';
  // After a file upload, only the call that used the file counts.
  return all === 1 || action !== 'requestActionFileUpload';
}

/** Matches whole values only: ids, tokens, times and ports may contain the digits by chance. */
function saysMore(text: string, secret: string): boolean {
  return new RegExp(`(?<![\\w-])${secret}(?![\\w-])`).test(text);
}
