// Approvals: runs between the permission check and the work of a writing call, and decides whether the call needs an
// approval and has one. An approval can come in three ways:
// - The client asks its user on the stream of the call (revisions before 2026-07-28).
// - The client asks its user and then repeats the call (2026-07-28).
// - A signed-in user decides in the console, and the model repeats its call.
//
// Every approval is bound to the user, the grant, the tool, the arguments and the data that the call would change. It
// is valid for one run, and that run passes every check of a first call. The server runs a call that was approved in
// the console at once (execution.ts), and the model's repeat gets the stored result.

import type { Engine } from '../../agent/engine.ts';
import type { Restrictions } from '../../core/caller/restrictions.ts';
import { type Access, type Policy, policyNames, strictestPolicy } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import { AppError, type ErrorCode, fail } from '../../core/errors.ts';
import { randomToken } from '../../core/secret.ts';
import type { Authenticated } from '../../oauth/tokens/verify.ts';
import type {
  Approval,
  ApprovalCall,
  ApprovalContent,
  ApprovalRequest,
  Approvals,
  Credential,
} from '../../store/approvals/types.ts';
import type { Keys } from '../../store/store.ts';
import { collectionRights, sortedJson } from '../idempotency.ts';
import type { PreviewedCall, Tool, ToolCall } from '../tool.ts';
import { createApprovalStates } from './approval-state.ts';
import { pendingText, questionText, runningText } from './approval-text.ts';
import { dropUploads } from './uploads.ts';

export type ElicitationAnswer = 'accept' | 'decline' | 'cancel';

/** How the client asks its user. Absent if it cannot. */
export type Elicitation =
  | {
      readonly mode: 'wait';
      /** Returns `cancel` also after a timeout of `limitMs` milliseconds. */
      readonly ask: (question: string, limitMs: number) => Promise<ElicitationAnswer>;
    }
  | {
      readonly mode: 'repeat';
      /** The state and the answer in a repeated call. */
      readonly returned?: { readonly state: string; readonly answer: ElicitationAnswer | undefined };
    };

export interface ApprovalQuestion {
  readonly text: string;
  /** Opaque to the client, which returns it with the answer. */
  readonly state: string;
}

export type ApprovalDecision =
  /**
   * `access` is the Access of the check: a call with any other Access must be checked again. `approved` is set if an
   * approval was used.
   */
  | { readonly state: 'clear'; readonly access: Access; readonly approved?: Approved }
  /** The answer for the model. */
  | { readonly state: 'pending'; readonly text: string }
  /** The answer of a call that the server has already run. */
  | { readonly state: 'done'; readonly text: string }
  /** Its error. `kept`: the records written before it, as text; empty for none. */
  | { readonly state: 'failed'; readonly failure: AppError; readonly committedText: string }
  | { readonly state: 'asked'; readonly question: ApprovalQuestion };

interface Approved {
  /** The id of the approval. */
  readonly id: string;
  /** Throws APPROVAL_OVERTAKEN if the effects differ from the approved ones. */
  readonly check: (effects: unknown) => void;
}

interface ApprovalParts {
  /** All tools, enabled or not. */
  readonly tools: readonly Tool[];
  readonly approvals: Approvals;
  readonly keys: Keys;
  readonly config: Config;
  readonly clock: Clock;
  /** Returns the URL of the page that decides a request. */
  readonly approvalAddress: (id: string) => string;
}

interface WritingCall {
  readonly tool: Tool;
  readonly args: unknown;
  readonly input: Readonly<Record<string, unknown>>;
  readonly asker: Elicitation | undefined;
  /** The id of the approval, if the server executes an approved call. No further approval is then requested. */
  readonly executedApproval?: string | undefined;
  /** The call is no repeat: it does not get the result of an earlier call with the same arguments. */
  readonly isNew: boolean;
  /** Returns the caller with current rights, which may change while an approval is pending. */
  readonly currentCall: () => Promise<{ readonly auth: Authenticated; readonly call: ToolCall }>;
}

export interface ApprovalCheck {
  /** Whether the call may need approval. Answers from memory. */
  mayNeedApproval(tool: Tool, args: unknown, call: ToolCall): boolean;
  /**
   * Returns whether the call may run. Throws NOT_APPROVED, APPROVAL_OVERTAKEN, INVALID_APPROVAL, TOO_MANY_APPROVALS,
   * ANSWER_WITHHELD and all errors of the call itself.
   */
  requireApproval(call: WritingCall): Promise<ApprovalDecision>;
}

const rank = ({ policy, secondPerson }: Policy): number => policyNames.indexOf(policy) * 2 + Number(secondPerson);

/** Whether an approval under the policy `met` is enough for the policy `needed`. */
const covers = (met: Policy, needed: Policy): boolean => rank(met) >= rank(needed);

/** Whether any call of the caller may need approval. If so, a client with elicitation is worth a session. */
export function hasApprovalPolicies(access: Access, engine: Engine): boolean {
  if (access.hasPolicies) return true;
  return engine.index(access).some(({ name }) => engine.actions.describe(access, name).some(({ policy }) => policy));
}

export function createApprovalCheck(parts: ApprovalParts): ApprovalCheck {
  const { tools, approvals, keys, config, clock, approvalAddress } = parts;
  const states = createApprovalStates(keys, clock, config);

  const previewCall = async ({ tool, args, input, currentCall }: WritingCall) => {
    const { auth, call } = await currentCall();
    const preview = await tool.approval!.preview(args, call);
    const { access } = call;
    const request = toApprovalRequest({ tool, args, input, auth }, preview);
    const clear = (id: string): ApprovalDecision => ({
      state: 'clear',
      access,
      approved: { id, check: createEffectsCheck(preview) },
    });
    return { access, policy: preview.policy, request, clear };
  };

  const findConsoleDecision = async (
    request: ApprovalRequest,
  ): Promise<Approval | { readonly taken: string } | undefined> => {
    const open = await approvals.openOf(request);
    if (!open) return undefined;
    const { approval, unchanged } = open;
    if (!unchanged) {
      await approvals.overtake(approval.id);
      if (approval.state === 'approved') fail('APPROVAL_OVERTAKEN', {});
      return undefined;
    }
    // An approval under a weaker, earlier policy does not count.
    if (!covers(approval.policy, request.policy)) {
      await approvals.overtake(approval.id);
      return undefined;
    }
    if (approval.state !== 'approved') return approval;
    // One approval, one run: of several concurrent repeats, in any process, one continues.
    if (!(await approvals.take(approval.id, request))) fail('INVALID_APPROVAL', {});
    return { taken: approval.id };
  };

  /** An upload expires before an approval request does, so this extends the uploads that a pending request needs. */
  const extendUploads = async ({ tool, args, currentCall }: WritingCall, until: number): Promise<void> => {
    const keys = tool.approval!.uploadKeys?.(args) ?? [];
    if (keys.length === 0) return;
    const { auth, call } = await currentCall();
    for (const key of keys) await call.files.extendUpload(auth.userId, key, until + config.callSeconds * 1000);
  };
  const extendUploadsForAnswer = (call: WritingCall) =>
    extendUploads(call, clock.now() + config.approvalUseSeconds * 1000);

  const requestInConsole = async (call: WritingCall, request: ApprovalRequest): Promise<ApprovalDecision> => {
    const created = await approvals.ask(request);
    if (created === 'full') return fail('TOO_MANY_APPROVALS', {});
    await extendUploads(call, created.expiresAt + config.approvalUseSeconds * 1000);
    return { state: 'pending', text: pendingText(created, approvalAddress(created.id), config.approvalExecution) };
  };

  const recordAnswer = async (
    id: string,
    { currentCall }: WritingCall,
    request: ApprovalRequest,
    answer: ElicitationAnswer,
  ): Promise<void> => {
    // A denial is single use as well: the second answer with the same id is refused.
    if (!(await approvals.keepAnswer(id, request, answer === 'accept'))) fail('INVALID_APPROVAL', {});
    if (answer === 'accept') return;
    const { files } = (await currentCall()).call;
    await dropUploads({ tools, approvals, files }, request);
    fail('NOT_APPROVED', { how: answer === 'decline' ? 'declined' : 'unanswered' });
  };

  const askOnStream = async (
    call: WritingCall,
    request: ApprovalRequest,
    asker: Extract<Elicitation, { mode: 'wait' }>,
  ): Promise<ApprovalDecision> => {
    await extendUploadsForAnswer(call);
    const answer = await asker.ask(questionText(request), config.approvalUseSeconds * 1000);
    if (answer !== 'accept') await recordAnswer(randomToken(), call, request, answer);
    // Time has passed since the question, so the preview runs again on current data.
    const current = await previewCall(call);
    if (current.request.found !== request.found) fail('APPROVAL_OVERTAKEN', {});
    if (!covers(request.policy, current.policy)) return requestInConsole(call, current.request);
    const id = randomToken();
    await recordAnswer(id, call, current.request, answer);
    return current.clear(id);
  };

  const askByRepeat = async (
    call: WritingCall,
    { request, clear }: Pick<Awaited<ReturnType<typeof previewCall>>, 'request' | 'clear'>,
    { returned }: Extract<Elicitation, { mode: 'repeat' }>,
  ): Promise<ApprovalDecision> => {
    const askAgain = async (): Promise<ApprovalDecision> => {
      await extendUploadsForAnswer(call);
      return { state: 'asked', question: { text: questionText(request), state: await states.seal(request) } };
    };
    if (!returned) return askAgain();
    const { id, unchanged } = await states.open(returned.state, request);
    if (returned.answer === undefined) return askAgain();
    if (returned.answer === 'accept' && !unchanged) {
      await approvals.keepAnswer(id, request, false);
      fail('APPROVAL_OVERTAKEN', {});
    }
    await recordAnswer(id, call, request, returned.answer);
    return clear(id);
  };

  /**
   * For a call that the server has started: its answer or error, if there is one yet. For a denied call: NOT_APPROVED.
   * This runs before the preview, because the executed call has changed the data, and a denial has deleted the
   * uploads.
   */
  const findExecutedResult = async ({
    tool,
    args,
    input,
    currentCall,
    isNew,
  }: WritingCall): Promise<ApprovalDecision | undefined> => {
    const { auth, call } = await currentCall();
    const open = await approvals.openOf(toApprovalCall({ tool, args, input, auth }));
    if (!open) return undefined;
    const { id, state, result, content, decidedAt = 0 } = open.approval;
    if (state === 'denied') fail('NOT_APPROVED', { how: 'denied' });
    if (state !== 'running' && state !== 'used' && state !== 'failed') return undefined;
    // A new idempotency key marks a new call.
    const { idempotencyKey } = input;
    const isOther = idempotencyKey === undefined ? isNew : idempotencyKey !== content.key;
    if (state !== 'running' && isOther) {
      await approvals.close(id);
      return undefined;
    }
    if (!result) {
      if (clock.now() - decidedAt <= config.callSeconds * 2000) return { state: 'pending', text: runningText };
      // The process that ran the call has ended without a result.
      await approvals.close(id);
      return fail('OUTCOME_UNKNOWN', { of: 'write' });
    }
    const hasSameRights = () => result.rights === serializeRights(call, tool.subject(args).collection);
    if ('code' in result) {
      await approvals.close(id);
      const failure = new AppError(result.code as ErrorCode, result.details as never);
      return {
        state: 'failed',
        failure,
        committedText: result.kept !== undefined && hasSameRights() ? result.kept : '',
      };
    }
    if (!hasSameRights()) fail('ANSWER_WITHHELD', {});
    return { state: 'done', text: result.text };
  };

  const execute = async (id: string, call: WritingCall): Promise<ApprovalDecision> => {
    const { request, clear } = await previewCall(call);
    const open = await approvals.openOf(request);
    if (open?.approval.id !== id || open.approval.state !== 'approved') return fail('INVALID_APPROVAL', {});
    // An approval under a weaker, earlier policy does not count.
    if (!open.unchanged || !covers(open.approval.policy, request.policy)) {
      await approvals.overtake(id);
      return fail('APPROVAL_OVERTAKEN', {});
    }
    if (!(await approvals.begin(id, request))) return fail('INVALID_APPROVAL', {});
    return clear(id);
  };

  return {
    mayNeedApproval: (tool, args, call) => tool.approval?.mayNeedApproval(args, call) ?? false,
    async requireApproval(call) {
      if (call.executedApproval !== undefined) return execute(call.executedApproval, call);
      const done = await findExecutedResult(call);
      if (done) return done;
      const previewed = await previewCall(call);
      const { access, policy, request } = previewed;
      if (policy.policy === 'allow') return { state: 'clear', access };
      const decided = await findConsoleDecision(request);
      if (decided && 'taken' in decided) return previewed.clear(decided.taken);
      const { asker } = call;
      if (policy.policy === 'ask' && asker)
        return asker.mode === 'wait' ? askOnStream(call, request, asker) : askByRepeat(call, previewed, asker);
      return requestInConsole(call, request);
    },
  };
}

/** The committed effects must equal the previewed ones, which another transaction computed earlier. */
function createEffectsCheck({ effects: expected }: PreviewedCall): Approved['check'] {
  const shown = sortedJson(expected ?? null);
  return (effects) => {
    if (expected !== undefined && sortedJson(effects) !== shown) fail('APPROVAL_OVERTAKEN', {});
  };
}

interface AuthorizedCall {
  readonly tool: Tool;
  readonly args: unknown;
  readonly input: Readonly<Record<string, unknown>>;
  readonly auth: Authenticated;
}

/** Leaves `found` empty: requests are looked up without it. */
function toApprovalCall({ tool, args, auth }: AuthorizedCall): ApprovalCall {
  // The idempotency key and the dry run flag do not change the effects of a call.
  const { idempotencyKey, dryRun, ...effectiveArgs } = args as Record<string, unknown>;
  // With a wider narrowing, the same arguments may change more, so the approval is bound to the narrowing too.
  const boundArgs = auth.restrictions ? [effectiveArgs, auth.restrictions.key] : effectiveArgs;
  return {
    ...{ userId: auth.userId, clientId: auth.clientId, ...toCredential(auth) },
    ...{ tool: tool.name, args: sortedJson(boundArgs), found: '' },
  };
}

const toStoredRestrictions = ({ readOnly, collections }: Restrictions): NonNullable<ApprovalContent['address']> => ({
  readOnly,
  collections: collections && [...collections],
});

function toCredential({ grantId, tokenId }: Authenticated): Credential {
  return { ...(grantId !== undefined && { grantId }), ...(tokenId !== undefined && { tokenId }) };
}

function toApprovalRequest(authorized: AuthorizedCall, { policy, preview, found }: PreviewedCall): ApprovalRequest {
  const { tool, args, input, auth } = authorized;
  const { collection = '', recordIds } = tool.subject(args);
  const { action } = args as { readonly action?: string };
  const { idempotencyKey, ...storedArguments } = input;
  return {
    ...toApprovalCall(authorized),
    clientName: auth.clientName,
    renderingId: auth.access.caller.renderingId,
    collection,
    ...(action !== undefined && { action }),
    ...(recordIds && { recordIds }),
    policy: strictestPolicy(policy),
    found: sortedJson(found ?? null),
    content: {
      ...{ arguments: storedArguments, preview, credential: toCredential(auth) },
      ...(auth.restrictions && { address: toStoredRestrictions(auth.restrictions) }),
      ...(typeof idempotencyKey === 'string' && { key: idempotencyKey }),
    },
  };
}

/** All rights that the answer of a call depends on, as text. */
export function serializeRights(call: Pick<ToolCall, 'access' | 'engine'>, collection: string | undefined): string {
  return collection === undefined ? '' : sortedJson(collectionRights(call, collection));
}
