import { anyPolicy } from '../approvals/preview.ts';
import { formatId } from '../input/record-ids.ts';
import type { Tool } from '../tool.ts';
import { toolVisibility } from '../visibility/visibility.ts';
import { type Linking, previewLinking, readLinking, runLinking } from './linking.ts';

export const associate: Tool<Linking> = {
  name: 'associate',
  title: 'Link records',
  description: 'Link records to one by its to-many relation. dryRun as create.',
  scope: 'mcp:write',
  isVisible: toolVisibility.associate,
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
  parse: (input) => readLinking(input, 'targetRecordId'),
  subject: ({ collection, id }) => ({ collection, recordIds: [formatId(id)] }),
  writes: ({ dryRun }) => !dryRun,
  approval: {
    mayNeedApproval: anyPolicy,
    preview: (linking, call) => previewLinking(linking, call, 'targetRecordId', call.engine.associate),
  },
  run: (linking, call) => runLinking(linking, call, 'targetRecordId', call.engine.associate),
};
