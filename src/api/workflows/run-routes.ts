// Endpoints for workflow runs: list, read and cancel. Users see their own runs. From editor up they see the runs of
// their team.
import { z } from 'zod';
import { fail } from '../../core/errors.ts';
import { runStates } from '../../store/workflows/types.ts';
import { markQuery, readIdCursor, writeIdCursor } from '../list.ts';
import { integer, oneOf, text } from '../parameters.ts';
import { type Call, defineRoute, type RouteParts } from '../route.ts';
import { listedRunSchema, showRun, showStep, tracedRunSchema } from './schemas.ts';

const under = '/v1/project/{projectName}/environment/{environmentName}/workflow-runs';
const reading = { method: 'GET', scopes: ['workflows:trigger'], admin: false, status: 200 } as const;

const listSchema = z
  .strictObject({
    hasMore: z.boolean(),
    nextCursor: z.string().optional().describe('With hasMore'),
    parameters: z.object({ projectName: z.string(), environmentName: z.string(), limit: z.int() }).loose(),
    data: z.array(listedRunSchema).describe('Newest first'),
  })
  .meta({ id: 'RunList' });

/** Returns a run with its steps. Throws NOT_FOUND for a missing run and also for one that the user may not see. */
async function trace({ access, path: { runId = '' } }: Pick<Call, 'access' | 'path'>, parts: RouteParts) {
  const run = (await parts.workflows.run(access, runId)) ?? fail('NOT_FOUND', { path: `run ${runId}` });
  return { ...showRun(run), steps: (await parts.store.runs.steps(runId)).map(showStep) };
}

export const runRoutes = [
  defineRoute({
    ...reading,
    path: under,
    id: 'listRuns',
    summary: 'Runs of workflows, newest first',
    about: 'Runs of workflows, newest first: those of the user, and from editor up those of the team.',
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
      const mark = markQuery('runs', path, sent);
      const after = cursor === undefined ? {} : { after: readIdCursor(cursor, mark) };
      const wish = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined));
      const found = await workflows.runs(access, { ...wish, ...after, limit: limit + 1 });
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      const body = {
        hasMore: last !== undefined,
        ...(last && { nextCursor: writeIdCursor(last.id, mark) }),
        parameters: { ...path, limit, ...sent },
        data: page.map(showRun),
      };
      return { status: 200, body };
    },
  }),
  defineRoute({
    ...reading,
    path: `${under}/{runId}`,
    id: 'getRun',
    summary: 'One run, with the steps that were begun',
    answers: tracedRunSchema,
    handle: async (call, parts) => ({ status: 200, body: await trace(call, parts) }),
  }),
  defineRoute({
    method: 'POST',
    path: `${under}/{runId}/cancel`,
    id: 'cancelRun',
    summary: 'Ends a run before its next step',
    about: 'Ends a run before its next step; what was done stays. One that is over is answered as it is.',
    scopes: ['workflows:trigger'],
    admin: false,
    status: 200,
    answers: tracedRunSchema,
    async handle(call, parts) {
      const run = await trace(call, parts);
      await parts.workflows.cancel(call.access, run.id);
      return { status: 200, body: await trace(call, parts) };
    },
  }),
];
