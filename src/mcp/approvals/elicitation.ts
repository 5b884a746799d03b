// Asks the client's user a question during a call, with the types of the SDK. In 2026-07-28 the question is the result
// of the call, and the client repeats the call with the answer (MCP 2026-07-28, multi round-trip requests). In earlier
// revisions the question is a request from the server on the stream of the call.
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
import { asksPeople } from './supports-elicitation.ts';

/** The key of the answer in the repeated call. */
const KEY = 'approval';

/** The user only accepts or declines, so the form has no fields. */
const form = (message: string): ElicitRequestFormParams => ({
  message,
  requestedSchema: { type: 'object', properties: {} },
});

/** Undefined for a client that does not declare elicitation. */
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
      // A timeout, a disconnect or an invalid response is not an approval.
      return 'cancel';
    }
  };
  return { way: 'wait', ask };
}

export function questionResult({ text, state }: Question): InputRequiredResult {
  return inputRequired({ inputRequests: { [KEY]: inputRequired.elicit(form(text)) }, requestState: state });
}

/**
 * Sends a question on the stream of the call that raises it (MCP 2025-11-25, transports, sending messages to the
 * server, 6). The SDK's own `elicitInput` and `requestSampling` name no call: their requests go to the event stream of
 * the session. They are lost if the client has no such stream, or opens it shortly after its first call.
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
