// Mutations for the read tools.
import type { Points } from '../mutations.ts';

export const mcpReads: Points = {
  'src/mcp/tools/describe-collection.ts': {
    '4.4 · tool · describeCollection': ['if (collections.length === 0) return', 'if (collections) return'],
  },
  'src/mcp/tools/list.ts': {
    '4.4 · tool · list': ['{ collection, ...request }, options),\n    count', '{ collection }, options),\n    count'],
  },
};
