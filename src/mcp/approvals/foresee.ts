// What a call that writes would do, worked out without doing it: for the person who is asked, for the policies that it
// meets, and for noticing that what it would find has changed since. The engine's own preview says all three, so that
// everything is checked as in the call itself. Which collections a write reaches (records can be written along with others)
// is not guessed from its arguments: the Access that the preview is given writes down every right that is asked of it.
import type { FormFile } from '../../agent/actions/definitions.ts';
import type { WriteAnswer, WriteOptions } from '../../agent/engine.ts';
import { type Access, type Policy, strictestOf, type Verb, type WriteVerb } from '../../core/caller.ts';
import { isAppError } from '../../core/errors.ts';
import type { ApprovalPreview } from '../../store/approval-types.ts';
import { clipValue } from '../answers/result.ts';
import type { ToolCall } from '../tools.ts';

export interface Foreseen {
  readonly policy: Policy;
  readonly preview: ApprovalPreview;
  /** By field: what among the values is a file, or a list of files. For those who decide; not kept with the request. */
  readonly files?: ReadonlyMap<string, readonly FormFile[]>;
  /** What the call would find, ready for JSON. Never shown: it may hold more than the caller sees. */
  readonly found: unknown;
}

/** Of a tool that writes. */
export interface Foresight<Arguments> {
  /** Whether the call could need a yes at all; decided from memory, since every write asks it. */
  readonly concerns: (args: Arguments, call: ToolCall) => boolean;
  readonly foresee: (args: Arguments, call: ToolCall) => Promise<Foreseen>;
}

export const anyPolicy = (_: unknown, { access }: ToolCall): boolean => access.hasPolicies;

/** Records of a preview that are kept and shown. */
const MOST_SHOWN = 20;
const CELL_CHARACTERS = 300;

export interface ForeseenWrite {
  /** Rights that the write stands for besides those that the engine asks for. */
  readonly also?: readonly (readonly [verb: WriteVerb, collection: string])[];
  /** How many records are named, and what they are given: told where the write cannot be previewed. */
  readonly count: number;
  readonly values?: Readonly<Record<string, unknown>>;
}

/** Fails as the write would. */
export async function foreseeWrite(
  { access, signal }: ToolCall,
  { also = [], count, values }: ForeseenWrite,
  write: (access: Access, options: WriteOptions) => Promise<WriteAnswer>,
): Promise<Foreseen> {
  const policies = also.map(([verb, collection]) => access.policy(verb, collection));
  const watched = watch(access, (policy) => policies.push(policy));
  try {
    const answer = await write(watched, { signal, preview: true, found: true });
    const preview = { count: answer.count, changes: clipChanges(answer.changes ?? []) };
    return { policy: strictestOf(...policies), preview, found: answer.found };
  } catch (error) {
    // Code writes there in place of the database, and nothing could be taken back: what is sent is all that is known.
    if (!isAppError(error, 'INVALID_ARGUMENT') || error.details.argument !== 'dryRun') throw error;
    const preview = { count, changes: [], ...(values && { values: clipRecord(values) }) };
    return { policy: strictestOf(...policies), preview, found: null };
  }
}

const isWriting = (verb: Verb): verb is WriteVerb => verb === 'add' || verb === 'edit' || verb === 'delete';

function watch(access: Access, met: (policy: Policy) => void): Access {
  return {
    ...access,
    can(verb, collection) {
      if (isWriting(verb)) met(access.policy(verb, collection));
      return access.can(verb, collection);
    },
  };
}

function clipChanges(changes: NonNullable<WriteAnswer['changes']>): ApprovalPreview['changes'] {
  return changes.slice(0, MOST_SHOWN).map(({ id, fields }) => ({
    id,
    fields: Object.fromEntries(
      Object.entries(fields).map(([name, { before, after }]) => [name, { before: clip(before), after: clip(after) }]),
    ),
  }));
}

const clip = (value: unknown): unknown => clipValue(value, CELL_CHARACTERS, true);

export function clipRecord(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, clip(value)]));
}
