// The playground: a person calls the tools of assistants as himself. The address types a call in, and only the form makes it.
// One that would write is tried first (its dry run, which the log tells of as of every call) and shown, and is made when he
// says so and a second dry run still finds the same. Which tools there are for him is asked anew each time: one that was taken
// from him is not there, whatever page is still open.
import { fail, isAppError } from '../../core/errors.ts';
import { hashToken, randomToken } from '../../core/secret.ts';
import type { Played, Playground } from '../../mcp/playground.ts';
import type { Tool } from '../../mcp/tools.ts';
import { type Html, html } from '../../oauth/html.ts';
import { createFramed } from '../frame.ts';
import type { Answer, MemberVisit, Parts } from '../visit.ts';
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

/** One tool, and who looks at it. */
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

/** A tool that does not exist, is not enabled or is not for him: the three look the same. What he typed is not lost. */
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
  /** Above the form. */
  readonly content?: Html;
  /** Why nothing was called. */
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
  // What came as JSON of a button goes back into the form that it came from.
  const shown = (visit.form.get('shown') === 'form' && asForm()) || typed;
  if (wish === 'edit') return page(room, { typed: shown });
  if (!['run', 'next', 'confirm'].includes(wish))
    fail('INVALID_ARGUMENT', { argument: 'action', problem: 'press one of the buttons.' });
  try {
    return (await make(room, args, shown, wish === 'confirm')) ?? gone(visit, parts);
  } catch (error) {
    // Too many calls, most likely: it was not made, and what was typed stays.
    if (!isAppError(error)) throw error;
    return page(room, { typed: shown, alert: error.message, status: error.status });
  }
}

/** Undefined where the tool was taken from him in between. */
async function make(room: Room, args: Arguments, typed: Typed, isMeant: boolean): Promise<Answer | undefined> {
  const { tool, visit, parts } = room;
  if (!writes(tool, args)) return answered(room, args, typed, await play(room, args));
  const canTry = room.fields.some(isTrial);
  const tried = canTry ? await play(room, { ...args, dryRun: true }) : undefined;
  if (canTry && !tried) return undefined;
  // What would fail fails here, and is told as the call itself would tell it.
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

/** A page that is loaded again sends its form again, and finds what the first one did. */
const sentBefore = html`<p class="warning">Nothing was written by this. This form may have been sent before: then the first time counts, and the activity log has it.</p>`;

/** Whether the call would change something; what cannot be read as arguments changes nothing, and is called to be told so. */
function writes(tool: Tool, args: Arguments): boolean {
  if (!tool.writes) return false;
  try {
    return tool.writes(tool.parse(args));
  } catch (error) {
    if (isAppError(error)) return false;
    throw error;
  }
}

/** The same form sent twice, as by a page that is loaded again, is one call. */
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
