// Mutations for the HTTP API of the agent.
import type { Points } from '../mutations.ts';

export const rest: Points = {
  'src/rest/records/list.ts': {
    '4.5 · collections': ["path: '/:collection',", "path: '/:collection/all',"],
  },
  'src/server/mounts.ts': {
    '4.5 · prefix': ['createRestPaths(publicUrl, config.prefix)', "createRestPaths(publicUrl, '/service')"],
  },
};
