// Clients of the revisions before 2026-07-28 cancel by a notification of its own, which names a request by the id that the
// client gave it. Every client counts from 1, and two windows of one assistant may share a token: what tells them apart
// is a conversation, an id that `initialize` answers in the header of sessions and that clients send from then on.
// Nothing is kept under it, so that any process can answer, and one that is made up cancels nothing but the calls of the
// same user and client. A notification that reaches another process than its call does nothing there.
import type { IncomingMessage } from 'node:http';
import { randomToken } from '../../core/secret.ts';
import { declaresViews, VIEWING } from '../answers/chart-view.ts';
import { isRecord } from './wire.ts';

const PREFIX = 'conversation-';

/** For the header `Mcp-Session-Id` of the answer to `initialize`; it carries that the client shows views. */
export function newConversation(capabilities: unknown): string {
  return (declaresViews(capabilities) ? VIEWING : PREFIX) + randomToken();
}

/** The conversation of a request; undefined where it names none, or a session that is kept. */
export function conversationOf({ headers: { 'mcp-session-id': id } }: IncomingMessage): string | undefined {
  return typeof id === 'string' && id.startsWith(PREFIX) ? id : undefined;
}

/** The id of the request that a message takes back; undefined for any other message (MCP 2025-11-25, cancellation). */
export function cancelledBy(message: unknown): string | number | undefined {
  if (!isRecord(message) || message.method !== 'notifications/cancelled' || !isRecord(message.params)) return undefined;
  const { requestId } = message.params;
  return typeof requestId === 'string' || typeof requestId === 'number' ? requestId : undefined;
}
