// Between the permissions and the work of a call that writes: whose yes it needs, and whether it is there. A yes comes in
// three ways. The client asks its person, on the stream of the call (revisions before 2026-07-28) or between the call and its
// repeat (2026-07-28); or a person who is signed in to the console decides, and the model repeats its call. Whichever it is,
// it is bound to the user, the client, the tool, the arguments and to what the call would find, it is good for one run, and
// the call meets every check of a first call again.

import type { Engine } from '../../agent/engine.ts';
import { type Access, type Policy, policyNames, strictestOf } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import { fail } from '../../core/errors.ts';
import { randomToken } from '../../core/secret.ts';
import type { Authenticated } from '../../oauth/bearer.ts';
import type { Approval, ApprovalRequest, Approvals } from '../../store/approval-types.ts';
import type { Keys } from '../../store/store.ts';
import { sortedJson } from '../once.ts';
import type { Tool, ToolCall } from '../tools.ts';
import { createApprovalStates } from './approval-state.ts';
import { pendingText, questionText } from './approval-text.ts';
import type { Foreseen } from './foresee.ts';

export type Answer = 'accept' | 'decline' | 'cancel';

/** How the client asks its person. Absent where it cannot. */
export type Asker =
  | {
      readonly way: 'wait';
      /** `cancel` also when nobody answers in time. */
      readonly ask: (question: string, limitMs: number) => Promise<Answer>;
    }
  | {
      readonly way: 'repeat';
      /** What the repeat of a call brings. */
      readonly came?: { readonly state: string; readonly answer: Answer | undefined };
    };

export interface Question {
  readonly text: string;
  /** Comes back with the answer. */
  readonly state: string;
}

export type Cleared =
  /** What was looked at: with any other Access the call is another. */
  | { readonly state: 'clear'; readonly access: Access }
  /** What the model is told. */
  | { readonly state: 'pending'; readonly text: string }
  | { readonly state: 'asked'; readonly question: Question };

export interface ApprovalParts {
  readonly approvals: Approvals;
  readonly keys: Keys;
  readonly config: Config;
  readonly clock: Clock;
  /** Of the page on which a request is decided. */
  readonly approvalAddress: (id: string) => string;
}

export interface WritingCall {
  readonly tool: Tool;
  readonly args: unknown;
  readonly given: Readonly<Record<string, unknown>>;
  readonly asker: Asker | undefined;
  /** Who calls, as of now; rights may change while a person thinks. */
  readonly standing: () => Promise<{ readonly auth: Authenticated; readonly call: ToolCall }>;
}

export interface ApprovalDoor {
  /** Whether the call may need a yes; from memory. */
  concerns(tool: Tool, args: unknown, call: ToolCall): boolean;
  /**
   * NOT_APPROVED, APPROVAL_OVERTAKEN, INVALID_APPROVAL, TOO_MANY_APPROVALS, and whatever the call itself would fail with.
   */
  clear(call: WritingCall): Promise<Cleared>;
}

const rank = ({ policy, secondPerson }: Policy): number => policyNames.indexOf(policy) * 2 + Number(secondPerson);

/** Whether a yes for `met` is enough where `needed` holds. */
export const covers = (met: Policy, needed: Policy): boolean => rank(met) >= rank(needed);

/** Whether some call of the caller may need a yes: then a client that can be asked is worth a session. */
export function mayBeAsked(access: Access, engine: Engine): boolean {
  if (access.hasPolicies) return true;
  return engine.index(access).some(({ name }) => engine.actions.describe(access, name).some(({ policy }) => policy));
}

export function createApprovalDoor({ approvals, keys, config, clock, approvalAddress }: ApprovalParts): ApprovalDoor {
  const states = createApprovalStates(keys, clock, config);

  const foresee = async ({ tool, args, given, standing }: WritingCall) => {
    const { auth, call } = await standing();
    const foreseen = await tool.approval!.foresee(args, call);
    const { access } = call;
    return { access, policy: foreseen.policy, request: requestOf({ tool, args, given, auth }, foreseen) };
  };

  const decidedInConsole = async (request: ApprovalRequest): Promise<Approval | 'taken' | undefined> => {
    const open = await approvals.openOf(request);
    if (!open) return undefined;
    const { approval, unchanged } = open;
    if (approval.state === 'denied') fail('NOT_APPROVED', { how: 'denied' });
    if (!unchanged) {
      await approvals.overtake(approval.id);
      if (approval.state === 'approved') fail('APPROVAL_OVERTAKEN', {});
      return undefined;
    }
    // The weaker yes of an earlier policy is none.
    if (!covers(approval.policy, request.policy)) {
      await approvals.overtake(approval.id);
      return undefined;
    }
    if (approval.state !== 'approved') return approval;
    // One approval, one run: of several repeats at once, in any process, one goes on.
    if (!(await approvals.take(approval.id, request))) fail('INVALID_APPROVAL', {});
    return 'taken';
  };

  const askInConsole = async (request: ApprovalRequest): Promise<Cleared> => {
    const filed = await approvals.ask(request);
    if (filed === 'full') return fail('TOO_MANY_APPROVALS', {});
    return { state: 'pending', text: pendingText(filed, approvalAddress(filed.id)) };
  };

  const settle = async (id: string, request: ApprovalRequest, answer: Answer): Promise<void> => {
    // Single use, of a no as well: whoever comes second with the same id brings nothing.
    if (!(await approvals.keepAnswer(id, request, answer === 'accept'))) fail('INVALID_APPROVAL', {});
    if (answer !== 'accept') fail('NOT_APPROVED', { how: answer === 'decline' ? 'declined' : 'unanswered' });
  };

  const askOnStream = async (
    call: WritingCall,
    request: ApprovalRequest,
    asker: Extract<Asker, { way: 'wait' }>,
  ): Promise<Cleared> => {
    const answer = await asker.ask(questionText(request), config.approvalUseSeconds * 1000);
    if (answer !== 'accept') await settle(randomToken(), request, answer);
    // The person took his time: everything is looked at again, as of now.
    const now = await foresee(call);
    if (now.request.found !== request.found) fail('APPROVAL_OVERTAKEN', {});
    if (!covers(request.policy, now.policy)) return askInConsole(now.request);
    await settle(randomToken(), now.request, answer);
    return { state: 'clear', access: now.access };
  };

  const askByRepeat = async (
    { access, request }: { readonly access: Access; readonly request: ApprovalRequest },
    { came }: Extract<Asker, { way: 'repeat' }>,
  ): Promise<Cleared> => {
    if (!came) return { state: 'asked', question: { text: questionText(request), state: await states.seal(request) } };
    const { id, unchanged } = await states.open(came.state, request);
    if (came.answer === undefined)
      return { state: 'asked', question: { text: questionText(request), state: await states.seal(request) } };
    if (came.answer === 'accept' && !unchanged) {
      await approvals.keepAnswer(id, request, false);
      fail('APPROVAL_OVERTAKEN', {});
    }
    await settle(id, request, came.answer);
    return { state: 'clear', access };
  };

  return {
    concerns: (tool, args, call) => tool.approval?.concerns(args, call) ?? false,
    async clear(call) {
      const { access, policy, request } = await foresee(call);
      if (policy.policy === 'allow') return { state: 'clear', access };
      const decided = await decidedInConsole(request);
      if (decided === 'taken') return { state: 'clear', access };
      const { asker } = call;
      if (policy.policy === 'ask' && asker)
        return asker.way === 'wait' ? askOnStream(call, request, asker) : askByRepeat({ access, request }, asker);
      return askInConsole(request);
    },
  };
}

interface Calling {
  readonly tool: Tool;
  readonly args: unknown;
  readonly given: Readonly<Record<string, unknown>>;
  readonly auth: Authenticated;
}

function requestOf({ tool, args, given, auth }: Calling, { policy, preview, found }: Foreseen): ApprovalRequest {
  const { collection = '', recordIds } = tool.subject(args);
  const { action } = args as { readonly action?: string };
  // How a call is repeated, and whether it is tried first, is not what it does.
  const { idempotencyKey, dryRun, ...meant } = args as Record<string, unknown>;
  const { idempotencyKey: _, ...sent } = given;
  return {
    userId: auth.userId,
    clientId: auth.clientId,
    clientName: auth.clientName,
    renderingId: auth.access.caller.renderingId,
    tool: tool.name,
    collection,
    ...(action !== undefined && { action }),
    ...(recordIds && { recordIds }),
    policy: strictestOf(policy),
    args: sortedJson(meant),
    found: sortedJson(found ?? null),
    content: { arguments: sent, preview },
  };
}
