import { anyPolicy } from '../approvals/preview.ts';
import { nameOf } from '../input/record-ids.ts';
import type { Tool } from '../tool.ts';
import { offers } from '../visibility/visibility.ts';
import { answerLinking, foreseeLinking, type Linking, readLinking } from './linking.ts';

export const associate: Tool<Linking> = {
  name: 'associate',
  title: 'Link records',
  description: 'Link records to one by its to-many relation. dryRun as create.',
  scope: 'mcp:write',
  isOffered: offers.associate,
  // Destructive: a record that already belongs to another record moves to this one.
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
