// Whether a client declares elicitation; elicitation.ts sends the questions.
import type { ClientCapabilities } from '@modelcontextprotocol/server';
import { isRecord } from '../transport/json-rpc.ts';
import { CLIENT_CAPABILITIES_META_KEY } from '../transport/meta-keys.ts';
import type { Elicitation } from './approval.ts';

/** For a first call of 2026-07-28, by its `_meta`. */
export function elicitationByMeta(meta: Readonly<Record<string, unknown>> | undefined): Elicitation | undefined {
  const capabilities = meta?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  return supportsElicitation(capabilities) ? { mode: 'repeat' } : undefined;
}

/** MCP, elicitation, capabilities: an empty object means forms. */
export function supportsElicitation(capabilities: ClientCapabilities | undefined): boolean {
  const elicitation: unknown = capabilities?.elicitation;
  return isRecord(elicitation) && (Object.keys(elicitation).length === 0 || isRecord(elicitation.form));
}
