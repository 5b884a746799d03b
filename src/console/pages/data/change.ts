// A change of data by a person: first a dry run that shows its effect, then the call. Both are calls of a tool, with the
// checks, the approvals and the log entries of an assistant's calls.
import { type AppError, fail, isAppError } from '../../../core/errors.ts';
import { hashToken, randomToken } from '../../../core/secret.ts';
import { type Html, html } from '../../../http/html.ts';
import { CONSOLE, type PlaygroundResult } from '../../../mcp/playground.ts';
import type { PreviewedEffect } from '../../../store/approvals/types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { approvalPage } from '../../paths.ts';
import { openForm } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { changeTables, effectTables } from '../approvals/changes-view.ts';
import type { Changes } from '../approvals/review.ts';
import { cannotBeTried } from '../playground/confirm-view.ts';
import { collectionLink, under } from './access.ts';

export interface Change {
  readonly tool: 'create' | 'update' | 'delete' | 'executeAction';
  readonly args: Readonly<Record<string, unknown>>;
  /** Such as `Save these changes to 2026-118?`. */
  readonly title: string;
  readonly button: string;
  /** The page that posts the form, and the one to go back to. */
  readonly page: string;
  readonly back: string;
  /** Fields of the form that the confirmation sends again. */
  readonly carried: readonly (readonly [name: string, value: string])[];
  /**
   * Reads more than the dry run answers, for a change of many records: what to show of them, and a fingerprint of what
   * they are now.
   */
  readonly inspect?: () => Promise<Inspected>;
  /** Shows the answer instead of redirecting to `after`. */
  readonly finished?: (result: Readonly<Record<string, unknown>>) => Answer;
  /** The page after the change. */
  readonly after: (result: Readonly<Record<string, unknown>>) => string;
  /** Shows the form again with the error. */
  readonly refused: (failure: AppError) => Answer | Promise<Answer>;
}

export interface Inspected {
  readonly view: Html;
  readonly fingerprint: string;
}

/** A dry run that was not refused. */
interface Tried {
  readonly result: PlaygroundResult;
  readonly inspected: Inspected | undefined;
}

const callTool = async (
  { tool }: Pick<Change, 'tool'>,
  args: Change['args'],
  { access, signal }: SignedInRequest,
  { playground, paths }: Parts,
): Promise<PlaygroundResult> => {
  // A person has confirmed the call, so it is never the repeat of an earlier one.
  const call = { userId: access.caller.id, tool, args, signal, client: CONSOLE, isNew: true };
  return (await playground?.call(call)) ?? fail('NOT_FOUND', { path: paths.path(under) });
};

/** Examples of the further records that a change of many records writes. Their number is always shown. */
const MAX_EFFECTS = 3;

const takesKey = ({ tool }: Change): boolean => tool === 'create' || tool === 'executeAction';

/** Shows what the change would do, and asks. */
export async function previewChange(change: Change, request: SignedInRequest, parts: Parts): Promise<Answer> {
  const tried = await dryRun(change, request, parts);
  return 'refused' in tried ? change.refused(tried.refused) : confirmPage(change, tried, false, request, parts);
}

/** Makes the change if it still has the effect that the person confirmed. */
export async function makeChange(change: Change, request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { form } = request;
  const tried = await dryRun(change, request, parts);
  if ('refused' in tried) return change.refused(tried.refused);
  if (form.get('seen') !== previewHash(change, tried)) return confirmPage(change, tried, true, request, parts);
  const key = (form.get('key') ?? '').slice(0, 100);
  const args = takesKey(change) && key !== '' ? { ...change.args, idempotencyKey: key } : change.args;
  const called = await callTool(change, args, request, parts);
  if (called.failure) return change.refused(called.failure);
  const result = JSON.parse(called.text) as Readonly<Record<string, unknown>>;
  if (called.entry.code === 'APPROVAL_PENDING')
    return pendingPage(change, String(result.approve ?? ''), request, parts);
  return change.finished?.(result) ?? { to: change.after(result) };
}

async function dryRun(
  change: Change,
  request: SignedInRequest,
  parts: Parts,
): Promise<Tried | { readonly refused: AppError }> {
  const result = await callTool(change, { ...change.args, dryRun: true }, request, parts);
  if (result.failure) return cannotBeTried(result) ? { result, inspected: undefined } : { refused: result.failure };
  try {
    return { result, inspected: await change.inspect?.() };
  } catch (error) {
    if (isAppError(error) && error.status < 500) return { refused: error };
    throw error;
  }
}

const previewHash = ({ args }: Change, { result, inspected }: Tried): string =>
  hashToken(JSON.stringify([args, result.text, inspected?.fingerprint]));

function confirmPage(
  change: Change,
  tried: Tried,
  hasChanged: boolean,
  request: SignedInRequest,
  parts: Parts,
): Answer {
  const { title, button, tool, page } = change;
  const hidden = [
    ...change.carried,
    ['seen', previewHash(change, tried)] as const,
    ['key', request.form.get('key') ?? randomToken(128)] as const,
  ];
  const content = html`<h1>${title}</h1>
${hasChanged && html`<p class="alert" role="alert">The data has changed since the last preview. Compare it again.</p>`}
<p class="quietly">Preview: no data has been changed yet.</p>
${effects(change, tried)}
${openForm(request, parts, page)}${hidden.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<div class="pair"><button class="plain" name="action" value="edit">Back</button><button class="${tool === 'delete' ? 'danger' : 'primary'}" name="action" value="confirm">${button}</button></div>
<p class="quietly">If your role requires an approval, the change waits for it first.</p></form>`;
  const between = [collectionLink(request.params.collection!, parts)];
  return {
    page: createFramedPage(request, parts, { title, under, content, between }),
    ...(hasChanged && { status: 409 }),
  };
}

function effects({ tool, args }: Change, { result, inspected }: Tried): Html {
  if (result.failure) return html`<p>The effect is not known in advance: customization code performs the write.</p>`;
  const { changes, alsoWritten, unseen, records, count } = JSON.parse(result.text) as {
    readonly changes?: Changes;
    readonly alsoWritten?: readonly PreviewedEffect[];
    readonly unseen?: readonly string[];
    readonly records?: number;
    readonly count?: number;
  };
  if (tool === 'executeAction') {
    const values = Object.entries((args.values ?? {}) as Readonly<Record<string, unknown>>);
    return html`<p>It would run on ${records === undefined ? 'no selected records' : records === 1 ? '1 record' : `${records} records`}. Its code can make changes that are not known in advance.</p>${values.length > 0 && changeTables('create', [{ id: null, fields: Object.fromEntries(values.map(([name, after]) => [name, { before: null, after }])) }])}`;
  }
  if (inspected) {
    const few = (alsoWritten ?? []).map((effect) => ({
      ...effect,
      ...(effect.changes && { changes: effect.changes.slice(0, MAX_EFFECTS) }),
    }));
    return html`${inspected.view}${effectTables(few, unseen ?? [])}`;
  }
  const others = effectTables(alsoWritten ?? [], unseen ?? []);
  const [first] = changes ?? [];
  const isSame = first && Object.keys(first.fields).length === 0 && tool === 'update';
  return html`${isSame ? html`<p>No field that you can see changes.</p>` : changeTables(tool, changes ?? [])}${(changes?.length ?? 0) < (count ?? 0) && html`<p class="quietly">Shown: ${changes?.length ?? 0} of ${count} records.</p>`}${others}`;
}

function pendingPage({ back }: Change, address: string, request: SignedInRequest, parts: Parts): Answer {
  const id = address.slice(address.lastIndexOf('/') + 1);
  const then = parts.execution
    ? 'The server makes the change when the request is approved.'
    : 'After the approval, save the same change again.';
  const content = html`<h1>Waiting for approval</h1>
<div class="state wait" role="status"><div><b>No data has been changed yet</b><span>Your role requires an approval. ${then}</span></div></div>
<div class="deeds spaced"><a class="button primary slim" href="${parts.paths.path(approvalPage(id))}">Open the request</a><a class="button plain slim" href="${parts.paths.path(back)}">Back</a></div>`;
  return { status: 202, page: createFramedPage(request, parts, { title: 'Waiting for approval', under, content }) };
}

/** The problem of each field, for an error about fields. */
export function fieldProblems(failure: AppError): ReadonlyMap<string, string> {
  if (!isAppError(failure, 'INVALID_RECORD')) return new Map();
  return new Map(failure.details.problems.map(({ field, problem }) => [field, problem]));
}
