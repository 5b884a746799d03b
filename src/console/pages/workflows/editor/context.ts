// What a step's form needs to know, read with the rights of the person who edits: fields, actions with their forms,
// remote servers, related records by name, and how many records match.
import { packId } from '../../../../agent/encode/record-id.ts';
import { isAppError } from '../../../../core/errors.ts';
import { type Html, html } from '../../../../http/html.ts';
import type { Workflow } from '../../../../store/workflows/types.ts';
import { stepOf, type WorkflowDefinition } from '../../../../workflows/definition/definition.ts';
import { type InputRequestField, toInputFields } from '../../../../workflows/input-requests/fields.ts';
import { withoutToolAdvice } from '../../../../workflows/runs/failure.ts';
import type { Parts, SignedInRequest } from '../../../page-request.ts';
import type { Describe } from '../../../ui/filter/fields.ts';
import { inputName } from '../../../ui/value-input.ts';
import { describeFor } from '../../data/access.ts';
import { formFields } from '../../data/form.ts';
import { readLookups } from '../../data/lookup.ts';
import { MAX_OPTIONS } from './forms/condition-part.ts';
import { readFilter } from './forms/filter-part.ts';
import { type DraftStep, type FormContext, rowsIn } from './forms/part.ts';
import { isTemplate } from './forms/variables.ts';

/** A step with its form. */
export interface StepTarget {
  /** Absent for a new workflow. */
  readonly workflow: Workflow | undefined;
  readonly definition: WorkflowDefinition;
  /** The version of the definition; 0 for a new workflow. */
  readonly since: number;
  readonly base: DraftStep;
  /** The place of a new step (connections.ts); undefined for a stored one. */
  readonly place: string | undefined;
  /** The page that posts the form. */
  readonly page: string;
  /** Fields of the form above the step. */
  readonly above: Html;
}

/** The collection of a loaded record; that of the workflow without one. */
function collectionOf(definition: WorkflowDefinition, record: string | undefined, describe: Describe): string {
  const visited = new Set<string>();
  const resolve = (id: string | undefined): string => {
    const step = id === undefined ? undefined : stepOf(definition, id);
    if (step?.type !== 'load-related-record' || visited.has(step.id)) return definition.collection;
    visited.add(step.id);
    const { relations = [] } = describe(resolve(step.record)) ?? {};
    return relations.find(({ name }) => name === step.relation)?.to ?? definition.collection;
  };
  return resolve(record);
}

/** `form`: the submitted form; undefined to show the stored step. */
export async function createContext(
  { definition, base, place }: Pick<StepTarget, 'definition' | 'base' | 'place'>,
  form: URLSearchParams | undefined,
  request: SignedInRequest,
  parts: Parts,
): Promise<FormContext> {
  const { access } = request;
  const describe = describeFor(request, parts);
  const record = form ? form.get('of-record') || undefined : base.record;
  const collection = collectionOf(definition, record, describe);
  const empty: FormContext = {
    ...{ definition, base, isNew: place !== undefined, access, describe, collection },
    ...{ actionFields: new Map(), actions: [], servers: [], tools: undefined, lookups: new Map(), counts: new Map() },
  };
  const { type } = base;
  if (type === 'mcp') {
    const servers = (await parts.store.remotes.list()).map(({ name }) => name);
    const isAsked = form?.get('action') === 'load-tools';
    return { ...empty, servers, tools: isAsked ? await readTools(form, request, parts) : undefined };
  }
  if (!describe(collection)) return empty;
  if (type === 'trigger-action') {
    const actions = parts.engine.actions.describe(access, collection).map(({ name }) => name);
    const needed = [base.action, form?.get('choice-action')].filter((name) => name && actions.includes(name));
    const fields = [...new Set(needed)].map(
      async (name) => [name!, await readActionFields(collection, name!, valuesIn(base, form), request, parts)] as const,
    );
    return { ...empty, actions, actionFields: new Map(await Promise.all(fields)) };
  }
  if (type === 'update-record') {
    const described = parts.engine.describe(access, collection);
    const chosen = form ? form.getAll('value-row') : Object.keys(base.values ?? {});
    const fields = formFields(described, undefined).flatMap((field) => {
      const value = base.values?.[field.name];
      const isShown = typeof value === 'number' || (typeof value === 'string' && !isTemplate(value));
      return chosen.includes(field.name) ? [{ ...field, required: false, ...(isShown && { value }) }] : [];
    });
    const asked = { ...request, form: form ?? new URLSearchParams() };
    return { ...empty, lookups: await readLookups(described, fields, new Map(), asked, parts) };
  }
  if (type === 'condition' && form?.get('action') === 'count')
    return { ...empty, counts: await countOptions(empty, form, request, parts) };
  return empty;
}

/** The tools of the chosen server, read with the account of the person who edits. Text: why there are none. */
async function readTools(form: URLSearchParams, { access, signal }: SignedInRequest, { remotes }: Parts) {
  const server = form.get('choice-server') ?? '';
  if (server === '') return 'Choose a server first.';
  try {
    return await remotes.tools(server, access.caller.id, signal);
  } catch (error) {
    if (!isAppError(error)) throw error;
    return withoutToolAdvice(error);
  }
}

/** The values that a form of an action can depend on. Values of the run are not known yet. */
function valuesIn({ values = {} }: DraftStep, form: URLSearchParams | undefined): Readonly<Record<string, unknown>> {
  const given: readonly (readonly [string, unknown])[] = form
    ? form.getAll('value-row').map((name) => [name, form.get(inputName({ name })) ?? ''] as const)
    : Object.entries(values);
  return Object.fromEntries(given.filter(([, value]) => value !== '' && !isTemplate(JSON.stringify(value))));
}

/** The fields of a form that depends on the record are those for the first record. */
async function readActionFields(
  collection: string,
  action: string,
  values: Readonly<Record<string, unknown>>,
  { access, signal }: SignedInRequest,
  { engine }: Parts,
): Promise<readonly InputRequestField[]> {
  const described = engine.actions.describe(access, collection).find(({ name }) => name === action);
  if (!described || described.form === 'none') return [];
  if (described.fields) {
    const nothing = { values: {}, missing: [], problems: [], canExecute: false };
    return toInputFields({ ...nothing, fields: described.fields });
  }
  try {
    const { key } = engine.describe(access, collection);
    const { rows } = await engine.list(access, { collection, fields: key, limit: 1 }, { signal });
    const recordIds = rows.map((row) => packId(row));
    const selected = { collection, action, ...(described.scope !== 'Global' && { recordIds }) };
    const load = async (given: Readonly<Record<string, unknown>>) =>
      toInputFields(await engine.actions.loadForm(access, { ...selected, values: given }, { signal }));
    const all = [...(await load({})), ...(await load(values))];
    // A default value is one of that record.
    return [...new Map(all.map(({ value: _, ...field }) => [field.name, field])).values()];
  } catch (error) {
    if (isAppError(error) && error.status < 500) return [];
    throw error;
  }
}

const figures = new Intl.NumberFormat('en');

async function countOptions(
  context: FormContext,
  form: URLSearchParams,
  { access, signal }: SignedInRequest,
  { engine }: Parts,
): Promise<ReadonlyMap<number, Html>> {
  const { collection, base } = context;
  const counts = new Map<number, Html>();
  const say = (at: number, text: string) => counts.set(at, html`<p class="quietly" role="status">${text}</p>`);
  const all = await engine.count(access, { collection }, { signal });
  for (const [at, prefix] of rowsIn(form, 'o', MAX_OPTIONS).entries()) {
    const stored = base.options?.[Number(form.get(`${prefix}mark`) || -1)];
    const problems: string[] = [];
    const controls = { context, prefix: `${prefix}w.`, collection, form };
    const filter = readFilter(controls, stored?.when, (problem) => problems.push(problem));
    if (problems.length > 0) say(at, problems[0]!);
    else if (filter === undefined) say(at, 'Without conditions, every record matches.');
    else if (isTemplate(JSON.stringify(filter)))
      say(at, 'It depends on values of the run, so it cannot be counted here.');
    else {
      try {
        const condition = engine.storedFilters.disambiguate(access, collection, filter);
        const count = await engine.count(access, { collection, filter: condition }, { signal });
        say(at, `Matches ${figures.format(count)} of ${figures.format(all)} ${collection}.`);
      } catch (error) {
        if (!isAppError(error) || error.status >= 500) throw error;
        say(at, `The count failed: ${error.message}`);
      }
    }
  }
  return counts;
}
