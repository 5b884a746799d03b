import { anyPolicy } from '../approvals/foresee.ts';
import { nameOf } from '../arguments/record-ids.ts';
import { offers } from '../offers/offers.ts';
import type { Tool } from '../tools.ts';
import { answerLinking, foreseeLinking, type Linking, readLinking } from './linking.ts';

export const associate: Tool<Linking> = {
  name: 'associate',
  title: 'Link records',
  description: 'Link records to one by its to-many relation. dryRun as create.',
  scope: 'mcp:write',
  isOffered: offers.associate,
  // A record that belonged to another one before belongs to this one now.
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  inputSchema: {
    type: 'object',
    properties: {
      collectionName: { type: 'string' },
      relationName: { type: 'string' },
      parentRecordId: { type: 'string' },
      targetRecordId: { type: 'string', description: 'Or a list of ids' },
      dryRun: { type: 'boolean' },
    },
    required: ['collectionName', 'relationName', 'parentRecordId', 'targetRecordId'],
  },
  parse: (given) => readLinking(given, 'targetRecordId'),
  subject: ({ collection, id }) => ({ collection, recordIds: [nameOf(id)] }),
  writes: ({ dryRun }) => !dryRun,
  approval: {
    concerns: anyPolicy,
    foresee: (linking, call) => foreseeLinking(linking, call, 'targetRecordId', call.engine.associate),
  },
  run: (linking, call) => answerLinking(linking, call, 'targetRecordId', call.engine.associate),
};
