// The preview of a writing call: what it would change, without changing it. It serves the approver, the approval
// policies and the detection of changes since the question. The engine's own preview provides all three, with every
// check of the real call. A write may reach more collections than its arguments name, for example by nested records.
// The Access of the preview therefore records every right that the engine asks for.

import type { WriteAnswer, WriteOptions } from '../../agent/requests.ts';
import { watchPolicies } from '../../core/caller/watch.ts';
import { type Access, strictestPolicy, type WriteVerb } from '../../core/caller.ts';
import { isAppError } from '../../core/errors.ts';
import type { ApprovalPreview } from '../../store/approvals/types.ts';
import { clipValue } from '../results/cells.ts';
import { clipChanges, otherEffects } from '../results/write-result.ts';
import type { PreviewedCall, ToolCall } from '../tool.ts';

export const anyPolicy = (_: unknown, { access }: ToolCall): boolean => access.hasPolicies;

/** The maximum number of previewed records that are stored and shown. */
const MAX_RECORDS = 20;
const MAX_CELL_CHARACTERS = 300;

interface PreviewOptions {
  /** Rights that the policies of the write must cover, besides the rights that the engine asks for. */
  readonly additionalRights?: readonly (readonly [verb: WriteVerb, collection: string])[];
  /** The number of records and their new values, for writes without a preview. */
  readonly count: number;
  readonly values?: Readonly<Record<string, unknown>>;
}

/** Previews a write. Throws every error that the write itself would throw. */
export async function previewWrite(
  { access, signal }: ToolCall,
  { additionalRights = [], count, values }: PreviewOptions,
  write: (access: Access, options: WriteOptions) => Promise<WriteAnswer>,
): Promise<PreviewedCall> {
  const policies = additionalRights.map(([verb, collection]) => access.policy(verb, collection));
  const watchedAccess = watchPolicies(access, (policy) => policies.push(policy));
  try {
    const answer = await write(watchedAccess, { signal, preview: true, found: true, onlyAllowedRelations: true });
    const { count, changes = [], unseen, found } = answer;
    const effects = otherEffects(answer.effects).map((effect) => ({
      ...effect,
      ...(effect.ids && { ids: effect.ids.slice(0, MAX_RECORDS) }),
      ...(effect.changes && { changes: clipFirst(effect.changes) }),
    }));
    const preview = {
      ...{ count, changes: clipFirst(changes) },
      ...(effects.length > 0 && { effects }),
      ...(unseen.length > 0 && { unseen }),
    };
    return { policy: strictestPolicy(...policies), preview, found, effects: found?.effects };
  } catch (error) {
    // Code replaces the database write and cannot be rolled back, so the preview shows only the sent values.
    if (!isAppError(error, 'INVALID_ARGUMENT') || error.details.argument !== 'dryRun') throw error;
    const preview = { count, changes: [], ...(values && { values: clipRecord(values) }) };
    return { policy: strictestPolicy(...policies), preview, found: null };
  }
}

const clipFirst = (changes: NonNullable<WriteAnswer['changes']>): ApprovalPreview['changes'] =>
  clipChanges(changes.slice(0, MAX_RECORDS), MAX_CELL_CHARACTERS);

const clip = (value: unknown): unknown => clipValue(value, MAX_CELL_CHARACTERS);

export function clipRecord(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, clip(value)]));
}
