import { anyPolicy } from '../approvals/foresee.ts';
import { nameOf } from '../arguments/record-ids.ts';
import { offers } from '../offers/offers.ts';
import type { Tool } from '../tools.ts';
import { answerLinking, foreseeLinking, type Linking, readLinking } from './linking.ts';

export const dissociate: Tool<Linking> = {
  name: 'dissociate',
  title: 'Unlink records',
  description: 'The reverse of associate. Deletes no records.',
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
