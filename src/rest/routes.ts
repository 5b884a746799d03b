// Every data route of the agent's HTTP API.
import { actionRoutes } from './actions/routes.ts';
import { aiQueryRoutes } from './ai-query.ts';
import { capabilityRoutes } from './capabilities.ts';
import { chartRoutes } from './charts/routes.ts';
import { statisticRoutes } from './charts/statistics.ts';
import { exportRoutes } from './records/export.ts';
import { listRoutes } from './records/list.ts';
import { relatedRoutes } from './records/related.ts';
import { relationRoutes } from './records/relation-routes.ts';
import { recordRoutes } from './records/routes.ts';
import type { AnyDataRoute } from './route.ts';

export const dataRoutes: readonly AnyDataRoute[] = [
  ...listRoutes,
  ...relatedRoutes,
  ...exportRoutes,
  ...relationRoutes,
  ...recordRoutes,
  ...actionRoutes,
  ...chartRoutes,
  ...statisticRoutes,
  ...capabilityRoutes,
  ...aiQueryRoutes,
];
