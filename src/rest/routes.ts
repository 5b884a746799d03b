// Every data route of the agent's HTTP API.
import { actionRoutes } from './action-routes.ts';
import { aiQueryRoutes } from './ai-query.ts';
import { capabilityRoutes } from './capabilities.ts';
import { chartRoutes } from './chart-routes.ts';
import { exportRoutes } from './export.ts';
import { listRoutes } from './list.ts';
import { recordRoutes } from './record-routes.ts';
import { relatedRoutes } from './related.ts';
import { relationRoutes } from './relation-routes.ts';
import type { Route } from './route.ts';
import { statisticRoutes } from './statistics.ts';

export const dataRoutes: readonly Route[] = [
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
