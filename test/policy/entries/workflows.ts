// Workflow steps, started by the tool, the webhook and the console. Each run waits for a person before its step, so the
// rights can change first: the rights at the step decide. A step that asks for confirmation waits a second time, and
// then the rights at the confirmation decide.
import type { Run, Workflow } from '../../../src/store/workflows/types.ts';
import type { OperationName } from '../operations.ts';
import { WANTED } from '../outside.ts';
import type { World } from '../world.ts';
import { type Ending, type Entry, endOfCode } from './entry.ts';
import { type Assistant, openAssistant } from './mcp.ts';
import { type Person, signIn } from './playground.ts';

type Step = Readonly<Record<string, unknown>> & { readonly type: string };

export const modes = ['automatic', 'confirm', 'manual'] as const;
export type Mode = (typeof modes)[number];

interface Planned {
  readonly step: Step;
  /** Defaults to orders. */
  readonly collection?: string;
  /** A step before it that computes its values. */
  readonly before?: Step;
  /** The modes besides automatic: a person confirms the step, or does it by hand. */
  readonly asks?: readonly Exclude<Mode, 'automatic'>[];
}

const writing = { asks: ['confirm', 'manual'] } as const;
const update = (values: object): Step => ({ type: 'update-record', values });
const charge = (amount: unknown): Step => ({
  ...{ type: 'mcp', server: 'till', tool: 'charge', arguments: { amount }, allowChanges: true },
});

/** The step of each operation. Its record is always the first one. */
export const plans: Readonly<Partial<Record<OperationName, Planned>>> = {
  readField: { step: { type: 'read-record', fields: ['label', 'margin'] } },
  branch: {
    step: {
      type: 'condition',
      options: [
        { id: 'yes', label: 'Yes', when: { field: 'margin', operator: 'GreaterThan', value: 0 }, next: 'last' },
        { id: 'no', label: 'No', next: 'last' },
      ],
    },
  },
  related: { step: { type: 'load-related-record', relation: 'order_lines' } },
  update: { step: update({ margin: WANTED }), ...writing },
  updateImported: { step: update({ customer_name: 'Mallory' }), ...writing },
  // The form has no field for it.
  updateNested: { step: update({ 'customer:name': 'Mallory' }), asks: ['confirm'] },
  updatePolymorphic: { step: update({ about_id: 2, about_type: 'order' }), collection: 'remarks', ...writing },
  updateByModel: {
    before: { type: 'ai', prompt: 'What is the margin of {{record.label}}?', answer: { type: 'number' } },
    step: update({ margin: '{{steps.before.answer}}' }),
    asks: ['confirm'],
  },
  updateByRemote: {
    before: { ...charge(WANTED), mode: 'automatic' },
    step: update({ margin: '{{steps.before.amount}}' }),
    asks: ['confirm'],
  },
  callRemote: { step: charge('{{record.margin}}'), asks: ['confirm'] },
  single: { step: { type: 'trigger-action', action: 'Refund' }, ...writing },
};

export const stepTypes = (): readonly string[] =>
  Object.values(plans).flatMap(({ step, before }) => [step.type, ...(before ? [before.type] : [])]);

/** The operations of steps that support the mode. */
export const operationsOf = (mode: Mode): readonly OperationName[] =>
  (Object.keys(plans) as OperationName[]).filter((name) => mode === 'automatic' || plans[name]!.asks?.includes(mode));

export const starts = ['tool', 'webhook', 'console'] as const;
export type Start = (typeof starts)[number];

export interface Begun {
  readonly operation: OperationName;
  readonly mode: Mode;
  readonly runId: string;
}

export interface Runs extends Entry {
  /** Starts a run that waits; `goOn` continues it. */
  begin(operation: OperationName, start: Start | Assistant, mode?: Mode): Promise<Begun>;
  /** `meanwhile` runs between the question of a step and its confirmation. */
  goOn(begun: Begun, meanwhile?: () => Promise<void>): Promise<Ending>;
  /** Tries to start the workflow of the world by webhook, or in the console as that person. */
  tryStart(by: 'webhook' | Person): Promise<Ending>;
}

export interface RunParts {
  readonly world: World;
  /** The person who lets the run continue. */
  readonly admin: Person;
}

interface Published extends Workflow {
  readonly webhook: string;
}

export async function openRuns({ world, admin }: RunParts): Promise<Runs> {
  const { store, clerkId } = world;
  const { renderingId } = (await store.permissions.caller(clerkId))!;
  const usual = await openAssistant(world);
  const trigger = await world.tokenOf(['workflows:trigger']);

  const webhookOf = async (id: string): Promise<string> => {
    const page = await admin.send(`/workflows/${id}`, { action: 'enable' });
    const address = /https?:\/\/[^"<\s]*\/webhooks\/workflows\/[^"<\s]+/.exec(page.html)?.[0];
    return address ?? fail(`no webhook on the page of ${id}`);
  };
  const publish = async (operation: OperationName, mode: Mode): Promise<Published> => {
    const name = `${operation} ${mode}`;
    const { collection = 'orders', step, before } = plans[operation]!;
    const isModal = step.type !== 'read-record';
    const last = { id: 'last', type: 'read-record', fields: ['id'] };
    const steps = [
      { id: 'wait', type: 'guidance', text: 'Wait.', next: before ? 'before' : 'it' },
      ...(before ? [{ ...before, id: 'before', next: 'it' }] : []),
      { ...step, id: 'it', ...(isModal && { mode }) },
      ...(step.type === 'condition' ? [last] : []),
    ];
    const definition = JSON.stringify({ name, collection, steps });
    const made = await store.workflows.publish({
      ...{ renderingId, name, collection, definition, concurrency: null, by: clerkId },
    });
    return { ...made, webhook: await webhookOf(made.id) };
  };
  const published = new Map<string, Promise<Published>>();
  const workflowOf = (operation: OperationName, mode: Mode): Promise<Published> => {
    const known = published.get(`${operation} ${mode}`) ?? publish(operation, mode);
    published.set(`${operation} ${mode}`, known);
    return known;
  };
  let look: Promise<string> | undefined;

  let signedIn: Person | undefined;
  /** The user of the runs in the console. A user who was disabled in the meantime is signed out. */
  const clerk = async (): Promise<Person> => {
    if (!signedIn || /\/sign-in/.test((await signedIn.at('/account')).url)) signedIn = await signIn(world, world.clerk);
    return signedIn;
  };

  const call = async (address: string): Promise<{ readonly status: number; readonly text: string }> => {
    const headers = { authorization: `Bearer ${trigger}`, 'content-type': 'application/json' };
    const answer = await fetch(address, { method: 'POST', headers, body: JSON.stringify({ record_id: '1' }) });
    return { status: answer.status, text: await answer.text() };
  };

  const start = async (operation: OperationName, from: Start | Assistant, mode: Mode): Promise<string> => {
    const { id: workflowId, webhook } = await workflowOf(operation, mode);
    if (from === 'tool' || typeof from === 'object') {
      const wanted = { workflowId, recordId: '1' };
      const { end, text } = await (from === 'tool' ? usual : from).call('triggerWorkflow', wanted);
      if (end !== 'done') throw new Error(`${operation} was not started: ${text}`);
      return (JSON.parse(text) as { readonly runId: string }).runId;
    }
    if (from === 'webhook') {
      const { text } = await call(webhook);
      return (JSON.parse(text) as { readonly runId?: string }).runId ?? fail(`${operation} was not started: ${text}`);
    }
    const page = await (await clerk()).send(`/workflows/${workflowId}`, { action: 'start', record: '1' });
    return /\/runs\/([\w-]+)/.exec(page.url)?.[1] ?? fail(`${operation} was not started: ${page.status}`);
  };

  const settled = async (runId: string): Promise<Run> => {
    for (const end = Date.now() + 20_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 4))) {
      const run = (await store.runs.find(runId))!;
      if (run.state !== 'queued' && run.state !== 'running') return run;
    }
    return fail(`the run ${runId} does not end`);
  };

  /** The run waits for the first person: what changes next changes it between two steps. */
  const begin: Runs['begin'] = async (operation, from, mode = 'automatic') => {
    const runId = await start(operation, from, mode);
    await settled(runId);
    return { operation, mode, runId };
  };

  const press = async (runId: string, who: Person, fields: Readonly<Record<string, string>>): Promise<Run> => {
    const { position } = await settled(runId);
    const pressed = await who.send(`/runs/${runId}`, { position: String(position), ...fields });
    if (!/done=answered/.test(pressed.url)) throw new Error(`the run was not answered: ${pressed.url} ${pressed.html}`);
    return settled(runId);
  };

  const readEnd = async ({ id, state, failure, reason }: Run): Promise<Ending> => {
    const text = JSON.stringify((await store.runs.steps(id)).map(({ outcome }) => outcome));
    if (state === 'succeeded') return { end: 'done', text };
    if (state === 'failed') return { end: endOfCode(failure!.code), text: `${failure!.code}: ${failure!.message}` };
    await admin.send(`/runs/${id}`, { action: 'cancel' });
    return { end: reason === 'approval' ? 'waits' : `waits for ${reason}`, text };
  };

  const charged = () => world.outside!.remote.charged.length;

  const goOn: Runs['goOn'] = async ({ runId, operation, mode }, meanwhile) => {
    const calls = charged();
    let run = await press(runId, admin, { action: 'done' });
    const isAsking = run.reason === 'confirmation' || run.reason === 'form';
    if (mode !== 'automatic' && isAsking) {
      const before = await world.changes();
      if (before.length > 0 || (operation === 'callRemote' && charged() > calls))
        return { end: `done before the yes: ${before}`, text: '' };
      await meanwhile?.();
      // Only the run's own user sees the arguments for a remote server.
      run = await press(runId, operation === 'callRemote' ? await clerk() : admin, yesTo(operation, mode));
    }
    const ending = await readEnd(run);
    if (operation !== 'callRemote') return ending;
    const times = charged() - calls;
    return times === (ending.end === 'done' ? 1 : 0)
      ? ending
      : { ...ending, end: `${ending.end}, called ${times} times` };
  };

  return {
    ...{ operations: Object.keys(plans) as OperationName[], isRun: true, goOn },
    begin,
    act: async (operation) => goOn(await begin(operation, 'tool')),
    async tryStart(by) {
      look ??= webhookOf(world.workflowId);
      const webhook = await look;
      if (by === 'webhook') {
        const { status, text } = await call(webhook);
        return { end: endOfStatus[status] ?? String(status), text };
      }
      const page = await by.send(`/workflows/${world.workflowId}`, { action: 'start', record: '1' });
      if (/\/runs\/[\w-]+/.test(page.url)) return { end: 'done', text: '' };
      return {
        end: /\/sign-in/.test(page.url) ? 'signed out' : (endOfStatus[page.status] ?? page.url),
        text: page.html,
      };
    },
  };
}

/** A refused start makes no call, so the log has no entry and the end is `gone`. */
const endOfStatus: Readonly<Record<number, string>> = {
  202: 'done',
  401: 'signed out',
  403: 'gone',
  404: 'gone',
  429: 'limited',
};

/** The form fields of a person who confirms, or who fills in the values of the definition. */
function yesTo(operation: OperationName, mode: Mode): Readonly<Record<string, string>> {
  if (mode === 'confirm') return { action: 'confirm' };
  const { values } = plans[operation]!.step as Step & { readonly values?: Readonly<Record<string, unknown>> };
  if (!values) return { action: 'run' };
  const typed = Object.entries(values).map(([name, value]) => [`value.${name}`, String(value)]);
  return { action: 'save', ...(Object.fromEntries(typed) as Record<string, string>) };
}

function fail(problem: string): never {
  throw new Error(problem);
}
