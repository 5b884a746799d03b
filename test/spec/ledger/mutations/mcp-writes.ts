// Mutations for the write tools.
import type { Points } from '../mutations.ts';

/** Every write is rolled back. */
const takenBack: readonly [string, string] = ['preview: dryRun', 'preview: true'];

export const mcpWrites: Points = {
  'src/mcp/input/write-options.ts': {
    '4.4 · tool · create': takenBack,
    '4.4 · tool · update': takenBack,
    '4.4 · tool · delete': takenBack,
  },
  'src/mcp/tools/associate.ts': {
    '4.4 · tool · associate': [
      "runLinking(linking, call, 'targetRecordId', call.engine.associate)",
      "runLinking(linking, call, 'targetRecordId', call.engine.dissociate)",
    ],
  },
  'src/mcp/tools/dissociate.ts': {
    '4.4 · tool · dissociate': [
      "runLinking(linking, call, 'targetRecordIds', call.engine.dissociate)",
      "runLinking(linking, call, 'targetRecordIds', call.engine.associate)",
    ],
  },
};
