// The playground: users call the tools of assistants as themselves. A URL can fill in a call, but only submitting the
// form makes it. A write runs first as a dry run, which is logged like every call, and its result is shown. The call
// runs after confirmation, if a second dry run has the same result. Each request checks again which tools the user may
// call, so an open page gives no access to a revoked tool.
import { fail, isAppError } from '../../../core/errors.ts';
import { hashToken, randomToken } from '../../../core/secret.ts';
import { type Html, html } from '../../../http/html.ts';
import type { Played, Playground } from '../../../mcp/playground.ts';
import type { Tool } from '../../../mcp/tool.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { createFramed } from '../../ui/frame.ts';
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
  readLinked,
  readSent,
  switchMode,
  type Typed,
} from './fields.ts';
import { callForm } from './form-view.ts';
import { namesFor } from './names.ts';
import { root, toolHead, toolList, toolPage, toolText } from './tool-view.ts';

export async function showTools(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const playground = doorOf(parts);
  const tools = await playground.toolsOf(visit.access.caller.id);
  const { instructions } = playground;
  const content = toolList({ tools, instructions, path: parts.paths.path });
  return { page: createFramed(visit, parts, { title: 'Playground', under: root, content }) };
}

const doorOf = ({ playground }: Parts): Playground => playground ?? fail('NOT_FOUND', { path: root });

/** One tool and its viewer. */
interface Room {
  readonly playground: Playground;
  readonly tool: Tool;
  readonly fields: readonly Field[];
  readonly visit: MemberVisit;
  readonly parts: Parts;
}

async function enter(visit: MemberVisit, parts: Parts): Promise<Room | undefined> {
  const playground = doorOf(parts);
  const tools = await playground.toolsOf(visit.access.caller.id);
  const tool = tools.find(({ name }) => name === visit.params.name);
  return tool && { playground, tool, fields: fieldsOf(tool), visit, parts };
}

export async function showTool(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const room = await enter(visit, parts);
  if (!room) return gone(visit, parts);
  return page(room, { typed: readLinked(visit.query, room.fields) });
}

/** Unknown, disabled and forbidden tools return the same page. It keeps the typed text. */
function gone(visit: MemberVisit, parts: Parts): Answer {
  const typed = [...visit.form].filter(([name, text]) => text !== '' && (name === 'json' || name.startsWith('arg.')));
  const content = html`<h1>This tool is not there for you</h1>
<p class="lead">Either there is none of this name, or it is not served here, or your role can do nothing with it. Nothing was called.</p>
${typed.length > 0 && html`<p>What you had typed:</p><pre tabindex="0" aria-label="What you had typed">${shownText(typed.map(([name, text]) => `${name.replace(/^arg\./, '')}: ${text}`).join('\n'))}</pre>`}
<p><a href="${parts.paths.path(root)}">What you can call</a></p>`;
  return { status: 404, page: createFramed(visit, parts, { title: 'Playground', under: root, content }) };
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
  { tool, fields, visit, parts }: Room,
  { typed, problems = new Map(), content, alert, status }: Shown,
): Answer {
  const form = callForm({
    fields,
    typed,
    problems,
    names: namesFor(visit.access, parts.engine, fields, typed),
    action: parts.paths.path(toolPage(tool.name)),
    csrf: visit.csrf,
    button: content ? 'Call it again' : 'Call it',
  });
  const unread = problems.size > 0 && !content && 'Nothing was called: something that you typed cannot be read.';
  const told = alert ?? unread;
  const framed = html`${toolHead(tool, parts.paths.path)}
${content ?? toolText(tool)}
${told && html`<p class="alert" role="alert">${told}</p>`}
${content && html`<h2 class="plainly">Call it again</h2>`}
${form}`;
  return {
    ...(status !== undefined && { status }),
    page: createFramed(visit, parts, { title: tool.title, under: root, content: framed }),
  };
}

export async function callTool(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const room = await enter(visit, parts);
  if (!room) return gone(visit, parts);
  const { fields, playground } = room;
  const typed = readSent(visit.form, fields);
  const wish = visit.form.get('action') ?? '';
  const read = readArguments(typed, fields, playground.depthLimit);
  if ('problems' in read) return page(room, { typed, problems: read.problems, status: 400 });
  const { args } = read;
  if (wish === 'json') return page(room, { typed: switchMode(args, fields, 'json') ?? typed });
  const asForm = () => (typed.mode === 'form' ? typed : switchMode(args, fields, 'form'));
  if (wish === 'form') {
    const problems = new Map([['', 'The form has no place for some of this, so it stays JSON.']]);
    const switched = asForm();
    return page(room, switched ? { typed: switched } : { typed, problems, status: 400 });
  }
  // Put the JSON of a button back into the form that it came from.
  const shown = (visit.form.get('shown') === 'form' && asForm()) || typed;
  if (wish === 'edit') return page(room, { typed: shown });
  if (!['run', 'next', 'confirm'].includes(wish))
    fail('INVALID_ARGUMENT', { argument: 'action', problem: 'press one of the buttons.' });
  try {
    return (await make(room, args, shown, wish === 'confirm')) ?? gone(visit, parts);
  } catch (error) {
    // Most likely the rate limit: no call was made, and the typed text stays.
    if (!isAppError(error)) throw error;
    return page(room, { typed: shown, alert: error.message, status: error.status });
  }
}

/** Undefined when the user has lost access to the tool in the meantime. */
async function make(room: Room, sent: Arguments, typed: Typed, isMeant: boolean): Promise<Answer | undefined> {
  const { tool, visit, parts } = room;
  const args = meantBy(room, sent);
  if (!writes(tool, args)) return answered(room, args, typed, await play(room, args));
  const canTry = room.fields.some(isTrial);
  const tried = canTry ? await play(room, { ...args, dryRun: true }) : undefined;
  if (canTry && !tried) return undefined;
  // If the dry run fails, show its error as the error of the call.
  if (tried?.failure && !cannotBeTried(tried)) return answered(room, { ...args, dryRun: true }, typed, tried, isMeant);
  const seen = hashToken(JSON.stringify([args, tried?.text ?? '']));
  const before = visit.form.get('seen') ?? '';
  if (isMeant && before === seen) {
    const keyed = withKey(room, args);
    return answered(room, keyed, typed, await play(room, keyed));
  }
  const content = confirmContent({
    tool: tool.name,
    args,
    subject: tool.subject(tool.parse(args)),
    tried,
    shown: typed.mode,
    seen,
    key: randomToken(128),
    hasChanged: isMeant,
    action: parts.paths.path(toolPage(tool.name)),
    csrf: visit.csrf,
  });
  const framed = html`${toolHead(tool, parts.paths.path)}${content}`;
  return { page: createFramed(visit, parts, { title: tool.title, under: root, content: framed }) };
}

/**
 * Parses the arguments as the call does, so the confirmed call is the call that runs. Invalid arguments stay unchanged,
 * and the call rejects them.
 */
function meantBy({ playground, tool, visit }: Room, args: Arguments): Arguments {
  try {
    return playground.meant(tool, args, visit.access);
  } catch (error) {
    if (isAppError(error)) return args;
    throw error;
  }
}

/**
 * Shown when a confirmed call fails its dry run. One cause is a reload, which submits the form again after the first
 * call has already succeeded.
 */
const sentBefore = html`<p class="warning">Nothing was written by this. This form may have been sent before: then the first time counts, and the activity log has it.</p>`;

/** Whether the call would change data. Invalid arguments count as no, so the call runs and reports the error. */
function writes(tool: Tool, args: Arguments): boolean {
  if (!tool.writes) return false;
  try {
    return tool.writes(tool.parse(args));
  } catch (error) {
    if (isAppError(error)) return false;
    throw error;
  }
}

/** Adds the form's idempotency key: submitting a form twice, such as by reloading, makes one call. */
function withKey({ fields, visit }: Room, args: Arguments): Arguments {
  const key = visit.form.get('key') ?? '';
  const takesKey = fields.some(({ name }) => name === 'idempotencyKey');
  return takesKey && key !== '' && args.idempotencyKey === undefined ? { ...args, idempotencyKey: key } : args;
}

const play = ({ playground, tool, visit }: Room, args: Arguments): Promise<Played | undefined> =>
  playground.call({ userId: visit.access.caller.id, tool: tool.name, args, signal: visit.signal });

function answered(
  room: Room,
  args: Arguments,
  typed: Typed,
  played: Played | undefined,
  isLate = false,
): Answer | undefined {
  if (!played) return undefined;
  const { tool, fields, visit, parts } = room;
  const action = parts.paths.path(toolPage(tool.name));
  const view = {
    tool: tool.name,
    args,
    played,
    link: linkOf(action, args, fields),
    form: { action, csrf: visit.csrf },
  };
  const problems = new Map<string, string>();
  const { failure } = played;
  if (isAppError(failure, 'INVALID_ARGUMENT') && fields.some(({ name }) => name === failure.details.argument)) {
    problems.set(failure.details.argument, failure.details.problem);
  }
  return page(room, { typed, problems, content: html`${answerContent(view, visit, parts)}${isLate && sentBefore}` });
}
