// How a client is asked something during a call, in the words of the SDK. In 2026-07-28 the question is the answer of the
// call, and the client repeats it with what the person said (MCP 2026-07-28, multi round-trip requests); before, it is a
// request of the server's on the stream of the call.
import {
  type ClientCapabilities,
  type ElicitRequestFormParams,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { CLIENT_CAPABILITIES_META_KEY } from '../transport/meta-keys.ts';
import type { Answer, Asker, Question } from './approval.ts';
import { asksPeople } from './asks-people.ts';

/** Under which the answer comes back. */
const KEY = 'approval';

/** A yes or no is all that is wanted: the form has no fields. */
const form = (message: string): ElicitRequestFormParams => ({
  message,
  requestedSchema: { type: 'object', properties: {} },
});

/** Undefined for a client that does not say that it can ask a person. */
export function askerOf(ctx: ServerContext, server: Server): Asker | undefined {
  const { mcpReq } = ctx;
  const envelope = mcpReq.envelope as { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined;
  const modern = envelope?.[CLIENT_CAPABILITIES_META_KEY];
  if (modern !== undefined) {
    if (!asksPeople(modern)) return undefined;
    const state = mcpReq.requestState<unknown>();
    if (typeof state !== 'string') return { way: 'repeat' };
    const answer = inputResponse(mcpReq.inputResponses, KEY);
    return { way: 'repeat', came: { state, answer: answer.kind === 'elicit' ? answer.action : undefined } };
  }
  if (!asksPeople(server.getClientCapabilities())) return undefined;
  const ask = async (question: string, limitMs: number): Promise<Answer> => {
    try {
      const { action } = await askOnCall(ctx).mcpReq.elicitInput(form(question), {
        timeout: limitMs,
        signal: mcpReq.signal,
      });
      return action;
    } catch {
      // Nobody answered in time, the client is gone, or what it answered means nothing: that is no yes.
      return 'cancel';
    }
  };
  return { way: 'wait', ask };
}

export function questionResult({ text, state }: Question): InputRequiredResult {
  return inputRequired({ inputRequests: { [KEY]: inputRequired.elicit(form(text)) }, requestState: state });
}

/**
 * A question to the client belongs to the call that raises it and travels on its stream (MCP 2025-11-25, transports,
 * sending messages to the server, 6). The SDK's own `elicitInput` and `requestSampling` name no call; what they send goes
 * to the standing stream of the session, and is lost where a client has none, or opens it a moment after its first call.
 */
export function askOnCall(ctx: ServerContext): ServerContext {
  const { mcpReq } = ctx;
  const relatedRequestId = mcpReq.id;
  return {
    ...ctx,
    mcpReq: {
      ...mcpReq,
      elicitInput: (params, options) => mcpReq.elicitInput(params, { relatedRequestId, ...options }),
      requestSampling: (params, options) => mcpReq.requestSampling(params, { relatedRequestId, ...options }),
    },
  };
}
