// Routes of the editor. The new workflow comes before pages with an id.
import type { Route } from '../../../route.ts';
import { saveJson, showJson, showNewJson } from './json.ts';
import { saveAdd, saveNewWorkflow, showAdd, showNewWorkflow } from './new.ts';
import { changeSteps, showSteps } from './overview.ts';
import { changeStep, showStep } from './step.ts';
import { showTry, tryStep } from './try.ts';

/** Maximum size of a form with a definition or a step, in bytes. */
const bodyBytes = 512 * 1024;

export const editorRoutes: readonly Route[] = [
  { page: '/workflows/new', open: false, get: showNewWorkflow, post: saveNewWorkflow, bodyBytes },
  { page: '/workflows/new/json', open: false, get: showNewJson, post: saveJson, bodyBytes },
  { page: '/workflows/:id/edit', open: false, get: showSteps, post: changeSteps },
  { page: '/workflows/:id/edit/json', open: false, get: showJson, post: saveJson, bodyBytes },
  { page: '/workflows/:id/add', open: false, get: showAdd, post: saveAdd, bodyBytes },
  { page: '/workflows/:id/steps/:step', open: false, get: showStep, post: changeStep, bodyBytes },
  { page: '/workflows/:id/try', open: false, get: showTry, post: tryStep, bodyBytes },
];
