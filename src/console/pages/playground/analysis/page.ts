// The analysis: a form for the tool `aggregate`, which runs as a call of the playground. It offers the collections and
// fields that the viewer's own calls can use. A URL can choose the collection; only submitting the form makes a call.
import { fail, isAppError } from '../../../../core/errors.ts';
import { type Html, html } from '../../../../http/html.ts';
import type { Playground } from '../../../../mcp/playground.ts';
import type { Answer, Parts, SignedInRequest } from '../../../page-request.ts';
import type { Describe } from '../../../ui/filter/fields.ts';
import { createFramedPage } from '../../../ui/frame.ts';
import { copyable } from '../../../ui/notices.ts';
import { describeFor } from '../../data/access.ts';
import { answerContent } from '../answer-view.ts';
import { fieldsOf, linkOf } from '../fields.ts';
import { analysisPage, root, toolPage } from '../tool-view.ts';
import { toCall } from './call.ts';
import { analysisForm } from './form-view.ts';
import { type AnalysisState, readAnalysis, startOf } from './state.ts';

const TOOL = 'aggregate';

interface AnalysisContext {
  readonly playground: Playground;
  readonly describe: Describe;
  /** Address of the tool's page with a call filled in, if it is short enough. */
  readonly linkTo: (args: object) => string | undefined;
  readonly request: SignedInRequest;
  readonly parts: Parts;
}

/** Throws NOT_FOUND for a viewer who cannot call the tool. */
async function readContext(request: SignedInRequest, parts: Parts): Promise<AnalysisContext> {
  const { playground, paths } = parts;
  const tools = await playground?.toolsOf(request.access.caller.id);
  const tool = tools?.find(({ name }) => name === TOOL);
  if (!playground || !tool) return fail('NOT_FOUND', { path: paths.path(analysisPage()) });
  const fields = fieldsOf(tool);
  const linkTo = (args: object) => linkOf(paths.path(toolPage(TOOL)), args as Record<string, unknown>, fields);
  return { playground, describe: once(describeFor(request, parts)), linkTo, request, parts };
}

/** Each control of the form asks for the same few descriptions. */
function once(describe: Describe): Describe {
  const known = new Map<string, ReturnType<Describe>>();
  return (collection) => {
    if (!known.has(collection)) known.set(collection, describe(collection));
    return known.get(collection);
  };
}

export async function showAnalysis(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const context = await readContext(request, parts);
  const collection = request.query.get('collection') ?? '';
  return page(context, startOf(context.describe(collection) ? collection : ''), {});
}

export async function changeAnalysis(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const context = await readContext(request, parts);
  const { describe, playground } = context;
  const state = readAnalysis(request.form, describe);
  if (!describe(state.collection)) return page(context, startOf(''), {});
  if (request.form.get('do') !== 'run') return page(context, state, {});
  const { args, problems } = toCall(state, describe);
  if (problems.size > 0) return page(context, state, { alert: 'No call was made: something is missing.', status: 400 });
  try {
    const played = await playground.call({
      ...{ userId: request.access.caller.id, tool: TOOL, args, signal: request.signal },
    });
    if (!played) return fail('NOT_FOUND', { path: parts.paths.path(analysisPage()) });
    const form = { action: parts.paths.path(toolPage(TOOL)), csrf: request.csrf };
    const answer = answerContent({ tool: TOOL, args, played, link: context.linkTo(args), form }, request, parts);
    return page(context, state, { answer });
  } catch (error) {
    // Most likely the rate limit: no call was made, and the form stays.
    if (!isAppError(error) || error.code === 'NOT_FOUND') throw error;
    return page(context, state, { alert: error.message, status: error.status });
  }
}

interface Shown {
  readonly answer?: Html;
  readonly alert?: string;
  readonly status?: number;
}

function page(context: AnalysisContext, state: AnalysisState, { answer, alert, status }: Shown): Answer {
  const { request, parts, describe, linkTo } = context;
  const { paths, engine } = parts;
  const described = state.collection === '' ? undefined : describe(state.collection);
  const call = described && toCall(state, describe);
  const form = analysisForm({
    state,
    // Problems of a form that nobody has sent are no help.
    problems: (alert !== undefined && call?.problems) || new Map(),
    collections: engine.index(request.access).map(({ name }) => name),
    described,
    describe,
    action: paths.path(analysisPage()),
    csrf: request.csrf,
  });
  const link = call && linkTo(call.args);
  const content = html`<h1>Analysis</h1>
<p class="lead">Build a call of the tool <a href="${paths.path(toolPage(TOOL))}">${TOOL}</a>, and run it with your own permissions.</p>
${alert && html`<p class="alert" role="alert">${alert}</p>`}
${form}
${
  call &&
  html`<section class="an-call"><details class="more" open><summary>The call as JSON</summary>${copyable(JSON.stringify(call.args, null, 2), 'the call')}${link !== undefined && html`<p class="quietly"><a href="${link}">Open it on the page of the tool</a>, to add top, compare or expressions.</p>`}</details></section>`
}
${answer}`;
  const title = alert === undefined ? 'Analysis' : 'Error: Analysis';
  return {
    ...(status !== undefined && { status }),
    page: createFramedPage(request, parts, { title, under: root, content, wide: true }),
  };
}
