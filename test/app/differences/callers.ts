// Callers other than the tools of an assistant: the HTTP API and workflow steps.
import type { LoggedActivity } from '../../../src/store/audit/activity-types.ts';
import type { RunStep } from '../../../src/store/workflows/types.ts';
import type { InputRequestData } from '../../../src/workflows/steps/input-request.ts';
import { type Browser, createBrowser } from '../../oauth/flow.ts';
import type { Http } from '../callers.ts';
import type { Music } from '../music.ts';
import type { Call } from './calls.ts';
import type { Change, Claim } from './judge.ts';

export interface Answer {
  readonly collection?: string;
  readonly count: number;
  readonly ids?: readonly string[];
  readonly changes?: readonly Change[];
  readonly alsoWritten?: readonly Claim[];
  readonly unseen?: readonly string[];
  readonly approve?: string;
}

/** Returns the answer as the tool would. An error is its code and the body. */
export async function askHttp(http: Http, { tool, args, to, by }: Call): Promise<unknown> {
  const { collectionName, recordIds, attributes, actionName, values, ...link } = args as {
    readonly collectionName: string;
    readonly recordIds?: readonly string[];
    readonly attributes?: object;
    readonly actionName?: string;
    readonly values?: object;
    readonly relationName?: string;
    readonly parentRecordId?: string;
    readonly targetRecordIds?: readonly string[];
  };
  const path = `/${collectionName}`;
  const id = recordIds?.[0];
  const at = `${path}/${encodeURIComponent(id ?? '')}`;
  const data = { type: collectionName, attributes, ...(id !== undefined && { id }) };
  const linked = () => {
    const of = `${path}/${encodeURIComponent(link.parentRecordId!)}/relationships/${link.relationName}`;
    const data = link.targetRecordIds!.map((each) => ({ type: to, id: each }));
    return http.ask(tool === 'associate' ? 'POST' : 'DELETE', of, { data });
  };
  const pointed = () => {
    const [[column, value] = []] = Object.entries(attributes ?? {});
    const data = value === null ? null : { id: String(value) };
    return http.ask('PUT', `${at}/relationships/up_${column}`, { data });
  };
  const { status, body } = await (tool === 'associate' || tool === 'dissociate'
    ? linked()
    : by === 'relationship'
      ? pointed()
      : tool === 'create'
        ? http.ask('POST', path, { data })
        : tool === 'update'
          ? http.ask('PUT', at, { data })
          : tool === 'delete'
            ? http.ask('DELETE', at)
            : http.execute(collectionName, actionName!, [], values));
  const told = body as {
    readonly data?: { readonly id: string };
    readonly meta?: Answer;
    readonly errors?: readonly { readonly code: string }[];
  } | null;
  if (status >= 400) return `${told?.errors?.[0]?.code} ${JSON.stringify(body)}`;
  const written = told?.data?.id ?? id;
  return { count: 1, ...(written !== undefined && { ids: [written] }), ...told?.meta };
}

export interface Stepped {
  /** The error code; undefined if the step succeeded. */
  readonly code?: string;
  /** The preview that the user saw before they approved. */
  readonly shown?: Answer;
  readonly entry?: LoggedActivity;
}

/** The clerk, signed in to the console. */
export interface Person {
  press(address: string, button: string): Promise<void>;
}

export function createPerson({ clerk }: Music): Person {
  let browser: Browser | undefined;
  return {
    async press(address, button) {
      const isNew = browser === undefined;
      browser ??= createBrowser();
      const first = await browser.open(address);
      const page = isNew ? await browser.press(first, 'sign-in', { ...clerk }) : first;
      const { status } = await browser.press(page, button);
      if (status !== 200) throw new Error(`${address} answers ${status} to '${button}'`);
    },
  };
}

export interface Steps {
  /** Runs the update or action of the call as the only step of a workflow on a record. The user approves if asked. */
  run(call: Call, name: string): Promise<Stepped>;
}

const DONE = ['succeeded', 'failed', 'cancelled'];

export async function openSteps({ store, call, consoleUrl, clerk }: Music, person: Person): Promise<Steps> {
  const { id: by } = (await store.identity.findUserByEmail(clerk.email))!;
  const { renderingId } = (await store.permissions.caller(by))!;

  const settled = async (runId: string, from = 0) => {
    for (const end = Date.now() + 20_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 5))) {
      const run = (await store.runs.find(runId))!;
      // A step with an uncertain outcome pauses the run at its own position.
      const asks = run.state === 'awaiting-input' && (run.position > from || run.reason === 'uncertain');
      if (asks || DONE.includes(run.state)) return run;
    }
    throw new Error(`the run ${runId} does not end`);
  };

  return {
    async run({ tool, args, by: caller, on }, name) {
      const {
        collectionName: collection,
        recordIds = [on],
        attributes,
        actionName: action,
        values,
      } = args as {
        readonly collectionName: string;
        readonly recordIds?: readonly string[];
        readonly attributes?: object;
        readonly actionName?: string;
        readonly values?: object;
      };
      const mode = caller === 'step' ? 'automatic' : 'confirm';
      const what =
        tool === 'update' ? { type: 'update-record', values: attributes } : { type: 'trigger-action', action, values };
      const steps = [{ id: 'it', mode, ...what }];
      const definition = JSON.stringify({ name, collection, steps });
      const { id: workflowId } = await store.workflows.publish({
        ...{ renderingId, name, collection, definition, concurrency: null, by },
      });
      const started = await call('triggerWorkflow', { workflowId, recordId: recordIds[0] });
      if (typeof started === 'string') return { code: started };
      const { runId } = started as { readonly runId: string };
      let run = await settled(runId);
      let shown: Answer | undefined;
      const endUncertain = async () => {
        if (run.reason !== 'uncertain') return;
        await person.press(`${consoleUrl}/runs/${runId}`, 'end');
        run = await settled(runId, Number.POSITIVE_INFINITY);
      };
      await endUncertain();
      if (run.state === 'awaiting-input') {
        shown = shownBy((await store.runs.steps(runId)).at(-1)!);
        await person.press(`${consoleUrl}/runs/${runId}`, 'confirm');
        run = await settled(runId, run.position);
        await endUncertain();
      }
      if (run.state === 'awaiting-input') throw new Error(`the run ${runId} asks again`);
      const entries = await store.activity.search({ type: 'write', limit: 20 });
      const logged = tool === 'update' ? 'update' : 'action';
      const entry = entries.find(({ action, workflow }) => action === logged && workflow?.runId === runId);
      return { ...(run.failure && { code: run.failure.code }), ...(shown && { shown }), ...(entry && { entry }) };
    },
  };
}

/** For an action, only the values: the writes of its code are not known in advance. */
function shownBy({ data }: RunStep): Answer | undefined {
  const asked = data as InputRequestData;
  if (asked.ask === 'action') return undefined;
  if (asked.ask !== 'change') throw new Error(`the step asks ${asked.ask}`);
  const { id, changes, effects, unseen } = asked;
  const own = [{ id, fields: changes }];
  return { count: 1, ids: [id], changes: own, ...(effects && { alsoWritten: effects }), ...(unseen && { unseen }) };
}
