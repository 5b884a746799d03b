// The playground: users call the tools of assistants as themselves. A URL can fill in a call, but only submitting the
// form makes it. A write runs first as a dry run, which is logged like every call, and its result is shown. The call
// runs after confirmation, if a second dry run has the same result. Each request checks again which tools the user may
// call, so an open page gives no access to a revoked tool.
import { fail, isAppError } from '../../../core/errors.ts';
import { hashToken, randomToken } from '../../../core/secret.ts';
import { type Html, html } from '../../../http/html.ts';
import type { Playground, PlaygroundResult } from '../../../mcp/playground.ts';
import type { Tool } from '../../../mcp/tool.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { answerContent } from './answer-view.ts';
import { cannotBeTried, confirmContent } from './confirm-view.ts';
import { shownText } from './exact.ts';
import {
  type Arguments,
  type Field,
  fieldsOf,
  isTrial,
  linkOf,
  type Problems,
  readArguments,
  readForm,
  readQuery,
  switchMode,
  type Typed,
} from './fields.ts';
import { callForm } from './form-view.ts';
import { namesFor } from './names.ts';
import { root, toolHead, toolList, toolPage, toolText } from './tool-view.ts';

export async function showTools(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const playground = requirePlayground(parts);
  const tools = await playground.toolsOf(request.access.caller.id);
  const instructions = playground.instructionsOf(request.access);
  const content = toolList({ tools, instructions, path: parts.paths.path });
  return { page: createFramedPage(request, parts, { title: 'Playground', under: root, content }) };
}

const requirePlayground = ({ playground }: Parts): Playground => playground ?? fail('NOT_FOUND', { path: root });

/** One tool and its viewer. */
interface ToolContext {
  readonly playground: Playground;
  readonly tool: Tool;
  readonly fields: readonly Field[];
  readonly request: SignedInRequest;
  readonly parts: Parts;
}

async function readToolContext(request: SignedInRequest, parts: Parts): Promise<ToolContext | undefined> {
  const playground = requirePlayground(parts);
  const tools = await playground.toolsOf(request.access.caller.id);
  const tool = tools.find(({ name }) => name === request.params.name);
  return tool && { playground, tool, fields: fieldsOf(tool), request, parts };
}

export async function showTool(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const context = await readToolContext(request, parts);
  if (!context) return missingPage(request, parts);
  return page(context, { typed: readQuery(request.query, context.fields) });
}

/** Unknown, disabled and forbidden tools return the same page. It keeps the typed text. */
function missingPage(request: SignedInRequest, parts: Parts): Answer {
  const typed = [...request.form].filter(([name, text]) => text !== '' && (name === 'json' || name.startsWith('arg.')));
  const content = html`<h1>Tool not available</h1>
<p class="lead">This server has no tool with this name, or your role cannot use it. No call was made.</p>
${typed.length > 0 && html`<p>Your input:</p><pre tabindex="0" aria-label="Your input">${shownText(typed.map(([name, text]) => `${name.replace(/^arg\./, '')}: ${text}`).join('\n'))}</pre>`}
<p><a href="${parts.paths.path(root)}">Tools that you can call</a></p>`;
  return { status: 404, page: createFramedPage(request, parts, { title: 'Playground', under: root, content }) };
}

interface Shown {
  readonly typed: Typed;
  readonly problems?: Problems;
  /** Content above the form. */
  readonly content?: Html;
  /** Reason why no call was made. */
  readonly alert?: string;
  readonly status?: number;
}

function page(
  { tool, fields, request, parts }: ToolContext,
  { typed, problems = new Map(), content, alert, status }: Shown,
): Answer {
  const form = callForm({
    fields,
    typed,
    problems,
    names: namesFor(request.access, parts.engine, fields, typed),
    action: parts.paths.path(toolPage(tool.name)),
    csrf: request.csrf,
    button: content ? 'Run again' : 'Run',
  });
  const unread = problems.size > 0 && !content && 'No call was made: some of your input is invalid.';
  const alertText = alert ?? unread;
  const framed = html`${toolHead(tool, parts.paths.path)}
${content ?? toolText(tool)}
${alertText && html`<p class="alert" role="alert">${alertText}</p>`}
${content && html`<h2 class="plainly">Run again</h2>`}
${form}`;
  return {
    ...(status !== undefined && { status }),
    page: createFramedPage(request, parts, { title: tool.title, under: root, content: framed }),
  };
}

export async function callTool(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const context = await readToolContext(request, parts);
  if (!context) return missingPage(request, parts);
  const { fields, playground } = context;
  const typed = readForm(request.form, fields);
  const button = request.form.get('action') ?? '';
  const read = readArguments(typed, fields, playground.depthLimit);
  if ('problems' in read) return page(context, { typed, problems: read.problems, status: 400 });
  const { args } = read;
  if (button === 'json') return page(context, { typed: switchMode(args, fields, 'json') ?? typed });
  const asForm = () => (typed.mode === 'form' ? typed : switchMode(args, fields, 'form'));
  if (button === 'form') {
    const problems = new Map([['', 'The form cannot show all of this input, so it stays JSON.']]);
    const switched = asForm();
    return page(context, switched ? { typed: switched } : { typed, problems, status: 400 });
  }
  // Put the JSON of a button back into the form that it came from.
  const shown = (request.form.get('shown') === 'form' && asForm()) || typed;
  if (button === 'edit') return page(context, { typed: shown });
  if (!['run', 'next', 'confirm'].includes(button))
    fail('INVALID_ARGUMENT', { argument: 'action', problem: 'press one of the buttons on the page.' });
  try {
    return (await runWrite(context, args, shown, button === 'confirm')) ?? missingPage(request, parts);
  } catch (error) {
    // Most likely the rate limit: no call was made, and the typed text stays.
    if (!isAppError(error)) throw error;
    return page(context, { typed: shown, alert: error.message, status: error.status });
  }
}

/** Undefined when the user has lost access to the tool in the meantime. */
async function runWrite(
  context: ToolContext,
  input: Arguments,
  typed: Typed,
  isConfirmed: boolean,
): Promise<Answer | undefined> {
  const { tool, request, parts } = context;
  const args = normalizeArguments(context, input);
  if (!isWrite(tool, args)) return answerPage(context, args, typed, await callPlayground(context, args));
  const canTry = context.fields.some(isTrial);
  const tried = canTry ? await callPlayground(context, { ...args, dryRun: true }) : undefined;
  if (canTry && !tried) return undefined;
  // If the dry run fails, show its error as the error of the call.
  if (tried?.failure && !cannotBeTried(tried))
    return answerPage(context, { ...args, dryRun: true }, typed, tried, isConfirmed);
  const previewHash = hashToken(JSON.stringify([args, tried?.text ?? '']));
  const previousHash = request.form.get('seen') ?? '';
  if (isConfirmed && previousHash === previewHash) {
    const keyed = withKey(context, args);
    return answerPage(context, keyed, typed, await callPlayground(context, keyed));
  }
  const content = confirmContent({
    tool: tool.name,
    args,
    subject: tool.subject(tool.parse(args)),
    tried,
    shown: typed.mode,
    previewHash,
    key: randomToken(128),
    hasChanged: isConfirmed,
    action: parts.paths.path(toolPage(tool.name)),
    csrf: request.csrf,
  });
  const framed = html`${toolHead(tool, parts.paths.path)}${content}`;
  return { page: createFramedPage(request, parts, { title: tool.title, under: root, content: framed }) };
}

/**
 * Parses the arguments as the call does, so the confirmed call is the call that runs. Invalid arguments stay unchanged,
 * and the call rejects them.
 */
function normalizeArguments({ playground, tool, request }: ToolContext, args: Arguments): Arguments {
  try {
    return playground.normalizeArguments(tool, args, request.access);
  } catch (error) {
    if (isAppError(error)) return args;
    throw error;
  }
}

/**
 * Shown when a confirmed call fails its dry run. One cause is a reload, which submits the form again after the first
 * call has already succeeded.
 */
const repeatedWarning = html`<p class="warning">This submission changed no data. If the form was sent before, the first submission counts: see the activity log.</p>`;

/** Whether the call would change data. Invalid arguments count as no, so the call runs and reports the error. */
function isWrite(tool: Tool, args: Arguments): boolean {
  if (!tool.writes) return false;
  try {
    return tool.writes(tool.parse(args));
  } catch (error) {
    if (isAppError(error)) return false;
    throw error;
  }
}

/** Adds the form's idempotency key: submitting a form twice, such as by reloading, makes one call. */
function withKey({ fields, request }: ToolContext, args: Arguments): Arguments {
  const key = request.form.get('key') ?? '';
  const takesKey = fields.some(({ name }) => name === 'idempotencyKey');
  return takesKey && key !== '' && args.idempotencyKey === undefined ? { ...args, idempotencyKey: key } : args;
}

const callPlayground = (
  { playground, tool, request }: ToolContext,
  args: Arguments,
): Promise<PlaygroundResult | undefined> =>
  playground.call({ userId: request.access.caller.id, tool: tool.name, args, signal: request.signal });

function answerPage(
  context: ToolContext,
  args: Arguments,
  typed: Typed,
  played: PlaygroundResult | undefined,
  isLate = false,
): Answer | undefined {
  if (!played) return undefined;
  const { tool, fields, request, parts } = context;
  const action = parts.paths.path(toolPage(tool.name));
  const view = {
    tool: tool.name,
    args,
    played,
    link: linkOf(action, args, fields),
    form: { action, csrf: request.csrf },
  };
  const problems = new Map<string, string>();
  const { failure } = played;
  if (isAppError(failure, 'INVALID_ARGUMENT') && fields.some(({ name }) => name === failure.details.argument)) {
    problems.set(failure.details.argument, failure.details.problem);
  }
  return page(context, {
    typed,
    problems,
    content: html`${answerContent(view, request, parts)}${isLate && repeatedWarning}`,
  });
}
