import { anyPolicy } from '../approvals/preview.ts';
import { nameOf } from '../input/record-ids.ts';
import type { Tool } from '../tool.ts';
import { offers } from '../visibility/visibility.ts';
import { answerLinking, foreseeLinking, type Linking, readLinking } from './linking.ts';

export const dissociate: Tool<Linking> = {
  name: 'dissociate',
  title: 'Unlink records',
  description: 'Unlink records of a to-many relation. Deletes no records.',
  scope: 'mcp:write',
  isOffered: offers.dissociate,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  inputSchema: {
    type: 'object',
    properties: {
      collectionName: { type: 'string' },
      relationName: { type: 'string' },
      parentRecordId: { type: 'string' },
      targetRecordIds: { type: 'array', items: { type: 'string' } },
      dryRun: { type: 'boolean' },
    },
    required: ['collectionName', 'relationName', 'parentRecordId', 'targetRecordIds'],
  },
  parse: (given) => readLinking(given, 'targetRecordIds'),
  subject: ({ collection, id }) => ({ collection, recordIds: [nameOf(id)] }),
  writes: ({ dryRun }) => !dryRun,
  approval: {
    concerns: anyPolicy,
    foresee: (linking, call) => foreseeLinking(linking, call, 'targetRecordIds', call.engine.dissociate),
  },
  run: (linking, call) => answerLinking(linking, call, 'targetRecordIds', call.engine.dissociate),
};
