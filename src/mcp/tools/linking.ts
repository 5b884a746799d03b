// Shared by associate and dissociate: one record, a to-many relation of it, and the related records.

import type { RecordId } from '../../agent/encode/record-id.ts';
import type { Engine } from '../../agent/engine.ts';
import { fail } from '../../core/errors.ts';
import { hasName } from '../../core/suggestions.ts';
import { previewWrite } from '../approvals/preview.ts';
import { checkNames, type JsonObject, readFlag, readRequiredText } from '../input/arguments.ts';
import { withToolNames } from '../input/engine-names.ts';
import { readRecordId, readRequiredIds } from '../input/record-ids.ts';
import { writeOptions } from '../input/write-options.ts';
import { writeText } from '../results/write-result.ts';
import type { PreviewedCall, ToolAnswer, ToolCall } from '../tool.ts';

export interface Linking {
  readonly collection: string;
  readonly relation: string;
  readonly id: RecordId;
  readonly ids: readonly RecordId[];
  readonly dryRun: boolean;
}

/** `targets` is the tool's name of the argument with the foreign ids. Its singular or plural form is accepted too. */
export function readLinking(input: JsonObject, targets: 'targetRecordId' | 'targetRecordIds'): Linking {
  const other = targets === 'targetRecordId' ? 'targetRecordIds' : 'targetRecordId';
  checkNames(input, ['collectionName', 'relationName', 'parentRecordId', targets, other, 'dryRun']);
  const relate = 'send the name of a to-many relation; describeCollection shows them as "many".';
  return {
    collection: readRequiredText(input, 'collectionName', 'send the name of the collection that has the relation.'),
    relation: readRequiredText(input, 'relationName', relate),
    id:
      readRecordId(input, 'parentRecordId') ??
      fail('INVALID_ARGUMENT', { argument: 'parentRecordId', problem: 'send the id of the record.' }),
    ids: readRequiredIds(input, targets, other),
    dryRun: readFlag(input, 'dryRun'),
  };
}

const argumentNamesFor = (targets: string) => ({
  collection: 'collectionName',
  relation: 'relationName',
  id: 'parentRecordId',
  ids: targets,
});

/** CWE-863: if a policy denies editing the record with the relation, linking is denied too, even with an approval. */
function requireNotDenied({ access }: ToolCall, collection: string): void {
  if (access.can('browse', collection) && access.policy('edit', collection).policy === 'deny')
    fail('FORBIDDEN', { verb: 'edit', collection });
}

/**
 * Linking is an edit of the record with the relation, plus all rights that the engine needs for the foreign
 * collection.
 */
export function previewLinking(
  { dryRun, ...request }: Linking,
  call: ToolCall,
  targets: string,
  link: Engine['associate'],
): Promise<PreviewedCall> {
  requireNotDenied(call, request.collection);
  const preview = { additionalRights: [['edit', request.collection] as const], count: request.ids.length };
  return previewWrite(call, preview, (access, options) =>
    withToolNames(argumentNamesFor(targets), () => link(access, request, options)),
  );
}

/** The answered ids belong to the written collection: the foreign collection, or the join collection. */
export async function runLinking(
  { dryRun, ...request }: Linking,
  call: ToolCall,
  targets: string,
  link: Engine['associate'],
): Promise<ToolAnswer> {
  requireNotDenied(call, request.collection);
  const answer = await withToolNames(argumentNamesFor(targets), () =>
    link(call.access, request, writeOptions(call, dryRun)),
  );
  const { relations } = call.engine.describe(call.access, request.collection);
  const relation = relations.find((each) => hasName(each, request.relation));
  const collection = relation?.through ?? relation?.to;
  const more = { collection };
  // The log entry is about the collection with the relation, so it omits the written ids and names that record.
  const { recordIds, ...withoutIds } = writeText(answer, {
    budgetTokens: call.config.answerTokens,
    records: false,
    more,
  });
  return withoutIds;
}
