// One cell of the table: an operation by one way in, under one policy. How it ended is held against what the table says, then the
// database and the activity log against how it ended.
import type { ActivityEntry } from '../../src/store/audit/activity-types.ts';
import type { Entry } from './entries/entry.ts';
import { type End, type OperationName, operationOf } from './operations.ts';
import { expectedChanges, expectedEnd, type Policy } from './oracle.ts';
import type { World } from './world.ts';

export interface Walked {
  readonly cells: number;
  /** What is not as the table says, one line for each. */
  readonly wrong: readonly string[];
}

/** What the entry of the log must say. A call that nobody is signed in for has none. */
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
  /** Where this way in ends otherwise than the table says, with the reason beside it. */
  readonly expect?: (operation: OperationName, end: End) => End;
  /** What would be done may be overtaken in place of it, and then nothing is. */
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
    // A way in that does not even offer it has refused it, and no call was made.
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
  // What a run does is in the log beside the call that started it.
  if ((clientId === 'workflow') !== (isRun === true)) return false;
  if (isLater) return type === 'write' && code !== 'APPROVAL_PENDING';
  // Where a file is sent first, the call that used it.
  return all === 1 || action !== 'requestActionFileUpload';
}

/** As a value by itself: ids, tokens, times and ports may hold its digits by chance. */
function saysMore(text: string, secret: string): boolean {
  return new RegExp(`(?<![\\w-])${secret}(?![\\w-])`).test(text);
}
