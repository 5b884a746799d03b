// The route table of the public API. Every call checks the token's scopes and its user's current rights.
import { activityRoutes } from './logs/activity-routes.ts';
import { adminLogRoutes } from './logs/admin-log-routes.ts';
import { noteRoutes } from './notes/routes.ts';
import type { Route } from './route.ts';
import { tokenRoutes } from './token-routes.ts';
import { workflowRoutes } from './workflows/routes.ts';
import { runRoutes } from './workflows/run-routes.ts';

export const routes: readonly Route[] = [
  ...tokenRoutes,
  ...activityRoutes,
  ...adminLogRoutes,
  ...noteRoutes,
  ...workflowRoutes,
  ...runRoutes,
];
