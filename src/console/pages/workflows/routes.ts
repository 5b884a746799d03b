// Routes of the pages about workflows and their runs. Each page checks the user's rights itself.
import type { Route } from '../../route.ts';
import { addStart, changeStart, showNewStart, showStart } from './automatic/page.ts';
import { showVersion } from './editor/json.ts';
import { editorRoutes } from './editor/routes.ts';
import { listWorkflows } from './list.ts';
import { changeWorkflow, showWorkflow } from './page.ts';
import { answerRun, sendRunFile, showRun, showRunLive } from './run.ts';
import { listRuns } from './runs.ts';

export const workflowRoutes: readonly Route[] = [
  { page: '/workflows', open: false, get: listWorkflows },
  ...editorRoutes,
  { page: '/workflows/:id', open: false, get: showWorkflow, post: changeWorkflow },
  { page: '/workflows/:id/starts/new', open: false, get: showNewStart, post: addStart },
  { page: '/workflows/:id/starts/:rule', open: false, get: showStart, post: changeStart },
  { page: '/workflows/:id/versions/:version', open: false, get: showVersion },
  { page: '/runs', open: false, get: listRuns },
  { page: '/runs/:id', open: false, takesFiles: true, get: showRun, post: answerRun },
  { page: '/runs/:id/files/:number', open: false, frameless: true, get: sendRunFile },
  { page: '/runs/:id/live', open: false, frameless: true, get: showRunLive },
];
