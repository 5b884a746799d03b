// Chooses the path of a request. An ordinary request goes to the shared instance of its era. Any other goes to the
// SDK's own handler, which also reports malformed requests.
import type { IncomingMessage } from 'node:http';
import { parseJson } from '../../http/body.ts';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LEGACY_VERSIONS,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from './meta-keys.ts';

const MODERN_VERSION = '2026-07-28';
const legacyVersions = new Set(LEGACY_VERSIONS);
const logLevels = new Set(['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']);
const JSON_TYPE = 'application/json';
/** JSON sent as text was not counted by the depth limit of the body. */
const MAX_ARGUMENTS_DEPTH = 64;
const STREAM_TYPE = 'text/event-stream';

/** The method names in metrics. Unknown names share one label, because a client can invent any number of them. */
const methods = new Set([
  'initialize',
  'ping',
  'server/discover',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'subscriptions/listen',
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
]);

export type ProtocolEra = 'modern' | 'legacy';

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function messagesOf(body: unknown): readonly unknown[] {
  return Array.isArray(body) ? body : [body];
}

/** The method of the first message, or `_OTHER` for a method outside the protocol. */
export function methodOf(body: unknown): string {
  const [first] = messagesOf(body);
  const method = isRecord(first) ? first.method : undefined;
  return typeof method === 'string' && methods.has(method) ? method : '_OTHER';
}

export function requestIdOf(body: unknown): string | number | undefined {
  const id = isRecord(body) ? body.id : undefined;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

/** The revision in the header, if it is a revision of the protocol. */
export function readVersion({ headers }: IncomingMessage): string | undefined {
  const version = headers['mcp-protocol-version'];
  return typeof version === 'string' && (version === MODERN_VERSION || legacyVersions.has(version))
    ? version
    : undefined;
}

/** The era of the shared instance for the request. Undefined unless the request is clearly a hot, well-formed one. */
export function detectEra(req: IncomingMessage, body: unknown): ProtocolEra | undefined {
  if (!isRecord(body) || body.jsonrpc !== '2.0') return undefined;
  const { id, method, params } = body;
  if (typeof id !== 'string' && !Number.isSafeInteger(id)) return undefined;
  if (method !== 'tools/call' && method !== 'tools/list') return undefined;
  if (params !== undefined && !isRecord(params)) return undefined;
  const name = params?.name;
  if (method === 'tools/call') {
    if (typeof name !== 'string') return undefined;
    if (params!.arguments !== undefined && !isRecord(params!.arguments)) return undefined;
  } else if (params?.cursor !== undefined) return undefined;
  const meta = params?._meta;
  if (meta !== undefined && !isRecord(meta)) return undefined;
  const version = req.headers['mcp-protocol-version'];
  if (meta && PROTOCOL_VERSION_META_KEY in meta) {
    if (version !== MODERN_VERSION || !isEnvelope(meta)) return undefined;
    if (req.headers['mcp-method'] !== method) return undefined;
    return method === 'tools/list' || req.headers['mcp-name'] === name ? 'modern' : undefined;
  }
  if (meta?.progressToken !== undefined && !isProgressToken(meta.progressToken)) return undefined;
  if (version !== undefined && !legacyVersions.has(String(version))) return undefined;
  const accept = req.headers.accept ?? '';
  return accept.includes(JSON_TYPE) && accept.includes(STREAM_TYPE) ? 'legacy' : undefined;
}

/** Whether a request declares revision 2026-07-28 or later, which has no sessions. */
export function isModernRequest(req: IncomingMessage, body: unknown): boolean {
  if (String(req.headers['mcp-protocol-version'] ?? '') >= MODERN_VERSION) return true;
  const meta = isRecord(body) && isRecord(body.params) ? body.params._meta : undefined;
  return isRecord(meta) && PROTOCOL_VERSION_META_KEY in meta;
}

/** As strict as the SDK's own check. Requests that fail this check go to the SDK, which reports the error. */
function isEnvelope(meta: Record<string, unknown>): boolean {
  if (meta[PROTOCOL_VERSION_META_KEY] !== MODERN_VERSION || !isRecord(meta[CLIENT_CAPABILITIES_META_KEY])) return false;
  const info = meta[CLIENT_INFO_META_KEY];
  if (info !== undefined && !(isRecord(info) && typeof info.name === 'string' && typeof info.version === 'string')) {
    return false;
  }
  if (meta.progressToken !== undefined && !isProgressToken(meta.progressToken)) return false;
  const level = meta[LOG_LEVEL_META_KEY];
  return level === undefined || (typeof level === 'string' && logLevels.has(level));
}

function isProgressToken(value: unknown): boolean {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

/**
 * Parses call arguments that a model sent as a JSON text. Without this, the SDK refuses the call before the tool runs.
 */
export function repairCall(message: unknown): void {
  if (!isRecord(message) || message.method !== 'tools/call' || !isRecord(message.params)) return;
  const args = message.params.arguments;
  if (args === null) {
    delete message.params.arguments;
    return;
  }
  if (typeof args !== 'string' || !args.trimStart().startsWith('{')) return;
  try {
    message.params.arguments = parseJson(Buffer.from(args), MAX_ARGUMENTS_DEPTH);
  } catch {
    // Unchanged: the SDK reports the error.
  }
}

export function acceptsStreams(req: IncomingMessage): boolean {
  const accept = req.headers.accept;
  return accept === undefined || accept.includes(STREAM_TYPE) || accept.includes('*/*');
}

/**
 * A client that accepts any type, or sends no Accept header, gets both types. A client that lists types must list JSON
 * and event streams (MCP 2025-11-25, transports, sending messages); otherwise the SDK returns an error.
 */
export function normalizeAccept(req: IncomingMessage): void {
  const accept = req.headers.accept;
  if (accept === undefined || accept.trim() === '' || accept.includes('*/*')) {
    req.headers.accept = `${JSON_TYPE}, ${STREAM_TYPE}`;
  }
}
