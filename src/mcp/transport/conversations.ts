// Conversations, which identify the client of a cancellation in revisions before 2026-07-28. There, a client cancels
// with a notification that names its own request id. Every client counts from 1, and two windows of one assistant may
// share a token. A conversation id therefore goes out with `initialize` in the session header, and clients send it
// with each later request. The server stores no data under it, so any process can answer. An invented id can only
// cancel calls of the same user and client. A notification that reaches another process than its call has no effect.
import type { IncomingMessage } from 'node:http';
import { randomToken } from '../../core/secret.ts';
import { declaresViews, VIEWS_PREFIX } from '../results/chart-view.ts';
import { isRecord } from './json-rpc.ts';

const CONVERSATION_PREFIX = 'conversation-';

/**
 * Creates the `Mcp-Session-Id` header of the response to `initialize`. The id encodes whether the client shows views.
 */
export function createConversationId(capabilities: unknown): string {
  return (declaresViews(capabilities) ? VIEWS_PREFIX : CONVERSATION_PREFIX) + randomToken();
}

/** The conversation of a request. Undefined without a session header, or if the header names a stored session. */
export function conversationOf({ headers: { 'mcp-session-id': id } }: IncomingMessage): string | undefined {
  return typeof id === 'string' && id.startsWith(CONVERSATION_PREFIX) ? id : undefined;
}

/** The id of the request that a message cancels. Undefined for any other message (MCP 2025-11-25, cancellation). */
export function cancelledRequestId(message: unknown): string | number | undefined {
  if (!isRecord(message) || message.method !== 'notifications/cancelled' || !isRecord(message.params)) return undefined;
  const { requestId } = message.params;
  return typeof requestId === 'string' || typeof requestId === 'number' ? requestId : undefined;
}
