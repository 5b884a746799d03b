// One automatic start: its form for the person whose rights its runs have, and its state and buttons for every editor.
import { fail, isAppError } from '../../../../core/errors.ts';
import { type Html, html } from '../../../../http/html.ts';
import type { StartRule } from '../../../../store/workflows/start-rule-types.ts';
import { nextOccurrences } from '../../../../workflows/automatic/schedule.ts';
import type { Answer, Parts, SignedInRequest } from '../../../page-request.ts';
import { facts } from '../../../ui/data.ts';
import { isUnfinished } from '../../../ui/filter/state.ts';
import { filterWords } from '../../../ui/filter/words.ts';
import { buttonTo, openForm } from '../../../ui/form.ts';
import { createFramedPage } from '../../../ui/frame.ts';
import { flash } from '../../../ui/notices.ts';
import { showTime } from '../../../ui/times.ts';
import { describeFor } from '../../data/access.ts';
import { findWorkflow, requireEditor, under, workflowPage } from '../access.ts';
import {
  type Edited,
  findUnknownField,
  formFields,
  formOf,
  type Kind,
  newForm,
  type PageContext,
  readForm,
  toSettings,
} from './form.ts';
import { ownerOf, startsPage } from './section.ts';
import { describeResult, describeStart, resultFor } from './words.ts';

const doneTexts: Readonly<Record<string, string>> = {
  paused: 'Paused. It starts no runs.',
  resumed: 'Active again.',
};

const SHOWN = 3;

const readKind = (text: string | null): Kind => (text === 'change' ? 'change' : 'schedule');

async function open(request: SignedInRequest, parts: Parts): Promise<PageContext> {
  requireEditor(request.access);
  return { request, parts, workflow: await findWorkflow(request, parts) };
}

/** Unknown rules and those of other workflows return the same 404. */
async function findRule({ request, parts, workflow }: PageContext): Promise<StartRule> {
  const { rule: id = '' } = request.params;
  const rules = await parts.automatic.list(request.access, workflow);
  return rules.find((rule) => rule.id === id) ?? fail('NOT_FOUND', { path: `${startsPage(workflow.id)}/${id}` });
}

export async function showNewStart(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const context = await open(request, parts);
  return newPage(context, { form: newForm(readKind(request.query.get('kind')), request.access.caller.timezone) });
}

export async function addStart(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const context = await open(request, parts);
  const { workflow } = context;
  return submit(context, readKind(request.form.get('kind')), {
    show: (edited) => newPage(context, edited),
    save: async (settings) => {
      await parts.automatic.add(request.access, workflow, settings);
      return 'start-added';
    },
  });
}

export async function showStart(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const context = await open(request, parts);
  return rulePage(context, await findRule(context));
}

export async function changeStart(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const context = await open(request, parts);
  const { workflow } = context;
  const { access, form } = request;
  const rule = await findRule(context);
  const page = `${startsPage(workflow.id)}/${rule.id}`;
  switch (form.get('action')) {
    case 'pause':
      await parts.automatic.pause(access, workflow, rule);
      return { to: `${page}?done=paused` };
    case 'resume':
      await parts.automatic.resume(access, workflow, rule);
      return { to: `${page}?done=resumed` };
    case 'delete':
      await parts.automatic.delete(access, workflow, rule);
      return { to: `${workflowPage(workflow.id)}?done=start-deleted` };
    default:
      return submit(context, rule.settings.kind, {
        show: (edited) => rulePage(context, rule, edited),
        save: async (settings) => {
          await parts.automatic.save(access, workflow, rule, settings);
          return 'start-saved';
        },
      });
  }
}

interface Submit {
  readonly show: (edited: Edited) => Promise<Answer>;
  /** Returns the key of the confirmation. */
  readonly save: (settings: ReturnType<typeof toSettings>) => Promise<string>;
}

async function submit(context: PageContext, kind: Kind, { show, save }: Submit): Promise<Answer> {
  const { request, parts, workflow } = context;
  const { collection } = workflow;
  const describe = describeFor(request, parts);
  const form = readForm(request.form, kind, describe, collection);
  const settings = toSettings(form, describe, collection);
  const pressed = request.form.get('do');
  if (pressed !== null && pressed !== 'preview') return show({ form });
  try {
    if (isUnfinished(form.rows))
      fail('INVALID_ARGUMENT', {
        argument: 'filter',
        problem: 'A condition has no value. Enter one, or remove the condition.',
      });
    const unknown = findUnknownField(form, describe, collection);
    if (unknown !== undefined)
      fail('INVALID_ARGUMENT', { argument: 'filter', problem: `'${collection}' has no field '${unknown}'.` });
    if (pressed === 'preview') return await show({ form, preview: await preview(context, settings) });
    return { to: `${workflowPage(workflow.id)}?done=${await save(settings)}#starts` };
  } catch (error) {
    if (!isAppError(error, 'INVALID_ARGUMENT')) throw error;
    const { argument, problem } = error.details;
    return { ...(await show({ form, wrong: { argument, problem } })), status: 400 };
  }
}

/** The next times, and how many records match now. */
async function preview(
  { request, parts, workflow }: PageContext,
  settings: ReturnType<typeof toSettings>,
): Promise<Html> {
  const { access } = request;
  const { collection } = workflow;
  await parts.automatic.check(access, workflow, settings);
  const { filter } = settings;
  const matches = await parts.engine
    .count(access, { collection, ...(filter && { filter }) })
    .catch((error: unknown) => {
      if (isAppError(error)) return undefined;
      throw error;
    });
  const count =
    matches !== undefined &&
    html`<b>${new Intl.NumberFormat('en').format(matches)} of your ${collection} match now</b>`;
  return html`<div class="state" role="status"><div>${count}<span>${settings.kind === 'schedule' && html`Next: ${nextTimes(settings, parts)}.`}</span></div></div>`;
}

const nextTimes = (settings: { readonly cron: string; readonly timezone: string }, { clock }: Parts): Html => {
  const times = nextOccurrences(settings, clock.now(), SHOWN).map((at) => showTime(at, settings.timezone));
  return html`${times.map((time, at) => html`${at > 0 && '; '}${time}`)}`;
};

async function newPage(context: PageContext, edited: Edited): Promise<Answer> {
  const { workflow } = context;
  const isSchedule = edited.form.kind === 'schedule';
  const title = isSchedule ? `Start ${workflow.name} on a schedule` : `Start ${workflow.name} on data changes`;
  const lead = isSchedule
    ? 'Runs start at the times that you choose.'
    : 'A run starts when a person, an assistant or a program changes a record through Portico. Changes in the database itself start no run.';
  return framed(context, title, edited, html`<p class="lead">${lead}</p>${editor(context, edited, 'new')}`);
}

function editor({ request, parts, workflow }: PageContext, edited: Edited, path: string): Html {
  const { form, wrong, preview: shown } = edited;
  return html`${openForm(request, parts, `${startsPage(workflow.id)}/${path}`)}${formFields(form, workflow, describeFor(request, parts), wrong)}${shown}
<p class="quietly">Its runs have your rights and no more. Only you can change it. Other editors of your team can pause and delete it.</p>
<div class="deeds"><button class="primary slim" name="action" value="save">Save</button><button class="plain slim" name="do" value="preview">${form.kind === 'schedule' ? 'Show the next times' : 'Count matching records'}</button></div></form>`;
}

async function rulePage(context: PageContext, rule: StartRule, edited?: Edited): Promise<Answer> {
  const { request, parts, workflow } = context;
  const { access } = request;
  const { timezone } = access.caller;
  const { settings, isActive } = rule;
  const lastResult = resultFor(rule, access);
  const isOwn = rule.userId === access.caller.id;
  const state = isActive ? await parts.automatic.stateOf(rule) : undefined;
  const page = `${startsPage(workflow.id)}/${rule.id}`;
  const press = (action: string, text: string, kind?: 'danger') =>
    buttonTo(request, parts, { page, action, text, ...(kind && { kind }) });
  const form = formOf(rule, describeFor(request, parts), timezone);
  const content = html`${flash(doneTexts, request.query)}
${state?.state === 'stopped' && html`<div class="state bad" role="status"><div><b>Stopped</b><span>${state.reason}</span></div></div>${isOwn && state.needsAgreement && html`<div class="deeds">${press('resume', `Agree to version ${workflow.version}`)}</div>`}`}
${facts([
  ['State', isActive ? (state?.state === 'ready' ? 'Active' : 'Stopped') : 'Paused'],
  ['Acts for', await ownerOf(rule, request, parts)],
  // The condition may name fields and values that other people do not see.
  ['Records', isOwn && (settings.filter ? `those where ${filterWords(settings.filter)}` : 'every record')],
  ['Next', isActive && settings.kind === 'schedule' && nextTimes(settings, parts)],
  ['Last', lastResult && html`${showTime(lastResult.at, timezone)}<small>${describeResult(lastResult)}</small>`],
])}
<div class="deeds">${isActive ? press('pause', 'Pause') : isOwn && press('resume', 'Resume')}</div>
${isOwn ? html`<h2 class="plainly">Change</h2>${editor(context, edited ?? { form }, rule.id)}` : html`<p class="quietly">Only the person that it acts for can change it.</p>`}
<details class="more"><summary>Delete</summary><p class="quietly">Current runs continue.</p>${press('delete', 'Delete', 'danger')}</details>`;
  return framed(context, describeStart(settings), edited, content);
}

function framed(
  { request, parts, workflow }: PageContext,
  title: string,
  edited: Edited | undefined,
  body: Html,
): Answer {
  const content = html`<h1>${title}</h1>${body}
<p class="quietly"><a href="${parts.paths.path(workflowPage(workflow.id))}">Back to the workflow</a></p>`;
  return {
    page: createFramedPage(request, parts, { title: edited?.wrong ? `Error: ${title}` : title, under, content }),
  };
}
