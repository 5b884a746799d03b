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
import type { ApprovalQuestion, Elicitation, ElicitationAnswer } from './approval.ts';
import { supportsElicitation } from './supports-elicitation.ts';

/** The key of the answer in the repeated call. */
const INPUT_KEY = 'approval';

/** The user only accepts or declines, so the form has no fields. */
const createForm = (message: string): ElicitRequestFormParams => ({
  message,
  requestedSchema: { type: 'object', properties: {} },
});

/** Undefined for a client that does not declare elicitation. */
export function elicitationOf(ctx: ServerContext, server: Server): Elicitation | undefined {
  const { mcpReq } = ctx;
  const envelope = mcpReq.envelope as { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined;
  const modern = envelope?.[CLIENT_CAPABILITIES_META_KEY];
  if (modern !== undefined) {
    if (!supportsElicitation(modern)) return undefined;
    const state = mcpReq.requestState<unknown>();
    if (typeof state !== 'string') return { mode: 'repeat' };
    const answer = inputResponse(mcpReq.inputResponses, INPUT_KEY);
    return { mode: 'repeat', returned: { state, answer: answer.kind === 'elicit' ? answer.action : undefined } };
  }
  if (!supportsElicitation(server.getClientCapabilities())) return undefined;
  const ask = async (question: string, limitMs: number): Promise<ElicitationAnswer> => {
    try {
      const { action } = await withRelatedRequest(ctx).mcpReq.elicitInput(createForm(question), {
        timeout: limitMs,
        signal: mcpReq.signal,
      });
      return action;
    } catch {
      // A timeout, a disconnect or an invalid response is not an approval.
      return 'cancel';
    }
  };
  return { mode: 'wait', ask };
}

export function questionResult({ text, state }: ApprovalQuestion): InputRequiredResult {
  return inputRequired({ inputRequests: { [INPUT_KEY]: inputRequired.elicit(createForm(text)) }, requestState: state });
}

/**
 * Sends a question on the stream of the call that raises it (MCP 2025-11-25, transports, sending messages to the
 * server, 6). The SDK's own `elicitInput` and `requestSampling` name no call: their requests go to the event stream of
 * the session. They are lost if the client has no such stream, or opens it shortly after its first call.
 */
export function withRelatedRequest(ctx: ServerContext): ServerContext {
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
