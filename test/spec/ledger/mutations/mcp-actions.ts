// Mutations for the tools of relations and actions.
import type { Points } from '../mutations.ts';

export const mcpActions: Points = {
  'src/mcp/tools/list-related.ts': {
    '4.4 · tool · listRelated': [
      'engine.listRelated(access, { ...request, collection, relation, id }, options)',
      'engine.list(access, { ...request, collection }, options)',
    ],
  },
  'src/mcp/tools/get-action-form.ts': {
    '4.4 · tool · getActionForm': [
      'const request = { ...toActionRequest(args), values };',
      'const request = { ...toActionRequest(args), values: {} as typeof values };',
    ],
  },
  'src/mcp/tools/execute-action.ts': {
    '4.4 · tool · executeAction': ['if (!args.dryRun) {', 'if (args.dryRun) {'],
  },
};
