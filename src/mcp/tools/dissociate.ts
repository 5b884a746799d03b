import { anyPolicy } from '../approvals/preview.ts';
import { formatId } from '../input/record-ids.ts';
import type { Tool } from '../tool.ts';
import { toolVisibility } from '../visibility/visibility.ts';
import { type Linking, previewLinking, readLinking, runLinking } from './linking.ts';

export const dissociate: Tool<Linking> = {
  name: 'dissociate',
  title: 'Unlink records',
  description: 'Unlink records of a to-many relation. Deletes no records.',
  scope: 'mcp:write',
  isVisible: toolVisibility.dissociate,
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
  parse: (input) => readLinking(input, 'targetRecordIds'),
  subject: ({ collection, id }) => ({ collection, recordIds: [formatId(id)] }),
  writes: ({ dryRun }) => !dryRun,
  approval: {
    mayNeedApproval: anyPolicy,
    preview: (linking, call) => previewLinking(linking, call, 'targetRecordIds', call.engine.dissociate),
  },
  run: (linking, call) => runLinking(linking, call, 'targetRecordIds', call.engine.dissociate),
};
