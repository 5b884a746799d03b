// What associate and dissociate have in common: one record, a to-many relation of it, and the records at its other end.
import type { Engine } from '../../agent/engine.ts';
import type { RecordId } from '../../agent/record-id.ts';
import { fail } from '../../core/errors.ts';
import { writeText } from '../answers/write-result.ts';
import { type Foreseen, foreseeWrite } from '../approvals/foresee.ts';
import { checkNames, type Given, readFlag, readRequiredText } from '../arguments/arguments.ts';
import { withToolNames } from '../arguments/engine-names.ts';
import { readRecordId, readRequiredIds } from '../arguments/record-ids.ts';
import type { ToolAnswer, ToolCall } from '../tools.ts';

export interface Linking {
  readonly collection: string;
  readonly relation: string;
  readonly id: RecordId;
  readonly ids: readonly RecordId[];
  readonly dryRun: boolean;
}

/** `targets` is how the tool calls the ids at the other end; the same in the other number is taken as well. */
export function readLinking(given: Given, targets: 'targetRecordId' | 'targetRecordIds'): Linking {
  const other = targets === 'targetRecordId' ? 'targetRecordIds' : 'targetRecordId';
  checkNames(given, ['collectionName', 'relationName', 'parentRecordId', targets, other, 'dryRun']);
  const relate = 'send the name of a to-many relation; describeCollection shows them as "many".';
  return {
    collection: readRequiredText(given, 'collectionName', 'send the name of the collection that has the relation.'),
    relation: readRequiredText(given, 'relationName', relate),
    id:
      readRecordId(given, 'parentRecordId') ??
      fail('INVALID_ARGUMENT', { argument: 'parentRecordId', problem: 'send the id of the record.' }),
    ids: readRequiredIds(given, targets, other),
    dryRun: readFlag(given, 'dryRun'),
  };
}

const namesOf = (targets: string) => ({
  collection: 'collectionName',
  relation: 'relationName',
  id: 'parentRecordId',
  ids: targets,
});

/** Linking is an edit of the record that has the relation, and whatever the engine needs at the other end. */
export function foreseeLinking(
  { dryRun, ...request }: Linking,
  call: ToolCall,
  targets: string,
  link: Engine['associate'],
): Promise<Foreseen> {
  const meant = { also: [['edit', request.collection] as const], count: request.ids.length };
  return foreseeWrite(call, meant, (access, options) =>
    withToolNames(namesOf(targets), () => link(access, request, options)),
  );
}

/** The ids that are answered are of the collection that was written to: the other end, or the one that holds the pairs. */
export async function answerLinking(
  { dryRun, ...request }: Linking,
  call: ToolCall,
  targets: string,
  link: Engine['associate'],
): Promise<ToolAnswer> {
  const answer = await withToolNames(namesOf(targets), () =>
    link(call.access, request, { signal: call.signal, preview: dryRun }),
  );
  const { relations } = call.engine.describe(call.access, request.collection);
  const relation = relations.find(({ name }) => name === request.relation);
  const collection = relation?.through ?? relation?.to;
  const more = { collection };
  // The log names the record that was linked to; its entry is about that collection.
  const { text } = writeText(answer, { budgetTokens: call.config.answerTokens, records: false, more });
  return { text };
}
