// Endpoints for workflow runs: list, read and cancel. Users see their own runs. From editor up they see the runs of
// their team.
import { z } from 'zod';
import { fail } from '../../core/errors.ts';
import { runStates } from '../../store/workflows/types.ts';
import { formatIdCursor, hashQuery, parseIdCursor } from '../list.ts';
import { integer, oneOf, text } from '../parameters.ts';
import { type Call, defineRoute, type RouteParts } from '../route.ts';
import { listedRunSchema, showRun, showStep, tracedRunSchema } from './schemas.ts';

const runsPath = '/v1/project/{projectName}/environment/{environmentName}/workflow-runs';
const reading = { method: 'GET', scopes: ['workflows:trigger'], admin: false, status: 200 } as const;

const listSchema = z
  .strictObject({
    hasMore: z.boolean(),
    nextCursor: z.string().optional().describe('Present if hasMore is true'),
    parameters: z.object({ projectName: z.string(), environmentName: z.string(), limit: z.int() }).loose(),
    data: z.array(listedRunSchema).describe('Newest first'),
  })
  .meta({ id: 'RunList' });

/** Returns a run with its steps. Throws NOT_FOUND for a missing run and also for one that the user may not see. */
async function readRunWithSteps({ access, path: { runId = '' } }: Pick<Call, 'access' | 'path'>, parts: RouteParts) {
  const run = (await parts.workflows.run(access, runId)) ?? fail('NOT_FOUND', { path: `run ${runId}` });
  return { ...showRun(run), steps: (await parts.store.runs.steps(runId)).map(showStep) };
}

export const runRoutes = [
  defineRoute({
    ...reading,
    path: runsPath,
    id: 'listRuns',
    summary: 'Runs of workflows, newest first',
    about:
      'Runs of workflows, newest first. Users of the level `user` get their own runs, and all other levels get the runs of the team.',
    query: {
      limit: integer(1, 100, 10),
      cursor: text(),
      workflowId: text(),
      recordId: text(),
      userId: integer(1),
      state: oneOf(...runStates),
    },
    answers: listSchema,
    async handle({ access, path, query }, { workflows }) {
      const { limit = 10, cursor, ...sent } = query;
      const queryHash = hashQuery('runs', path, sent);
      const after = cursor === undefined ? {} : { after: parseIdCursor(cursor, queryHash) };
      const filter = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined));
      const found = await workflows.runs(access, { ...filter, ...after, limit: limit + 1 });
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      const body = {
        hasMore: last !== undefined,
        ...(last && { nextCursor: formatIdCursor(last.id, queryHash) }),
        parameters: { ...path, limit, ...sent },
        data: page.map(showRun),
      };
      return { status: 200, body };
    },
  }),
  defineRoute({
    ...reading,
    path: `${runsPath}/{runId}`,
    id: 'getRun',
    summary: 'One run, with the steps that it started',
    answers: tracedRunSchema,
    handle: async (call, parts) => ({ status: 200, body: await readRunWithSteps(call, parts) }),
  }),
  defineRoute({
    method: 'POST',
    path: `${runsPath}/{runId}/cancel`,
    id: 'cancelRun',
    summary: 'Cancels a run before its next step',
    about: 'Cancels a run before its next step. Completed steps stay. A finished run is returned unchanged.',
    scopes: ['workflows:trigger'],
    admin: false,
    status: 200,
    answers: tracedRunSchema,
    async handle(call, parts) {
      const run = await readRunWithSteps(call, parts);
      await parts.workflows.cancel(call.access, run.id);
      return { status: 200, body: await readRunWithSteps(call, parts) };
    },
  }),
];
