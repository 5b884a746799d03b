// The fast path of tools/call. A well-formed first call of a built-in tool (json-rpc.ts) goes to callTool without the
// SDK. The SDK would parse and validate every message again, which takes about as long as a short call itself. A test
// compares the results with those of the SDK instance. All other calls take the SDK's path: repeats with an answer to
// a question, tools of an extension, and unknown names.
import { inSpan } from '../../core/observe/traces.ts';
import type { Question } from '../approvals/approval.ts';
import { askerByMeta } from '../approvals/supports-elicitation.ts';
import { tellsProgress } from '../progress.ts';
import { outputSchemaOf } from '../results/output-schemas.ts';
import { toResult } from '../results/result.ts';
import type { Tool } from '../tool.ts';
import type { CallTool, Identity } from '../tool-call.ts';
import { type Era, isRecord } from './json-rpc.ts';
import { SERVER_INFO_META_KEY } from './meta-keys.ts';
import type { HotRequest, Lane, Work } from './request-multiplexer.ts';

export interface DirectParts {
  readonly toolsByName: ReadonlyMap<string, Tool>;
  readonly callTool: CallTool;
  /** The name and version of the server, as clients get them. */
  readonly serverInfo: Readonly<Record<string, unknown>>;
  /** Whether results also contain structured content. */
  readonly outputSchemas: boolean;
}

/** Builds the question with the SDK, which the first question loads. */
async function asking(question: Question) {
  const { questionResult } = await import('../approvals/elicitation.ts');
  return questionResult(question);
}

/** Returns the work of a request, or undefined if the SDK must handle it. */
export type DirectCalls = (era: Era, request: HotRequest, identity: Identity) => Work | undefined;

export function createDirectCalls({ toolsByName, callTool, serverInfo, outputSchemas }: DirectParts): DirectCalls {
  // MCP 2026-07-28, results: every result has a type and the server info.
  const modern = { resultType: 'complete', _meta: { [SERVER_INFO_META_KEY]: serverInfo } };

  const isStructured = ({ name }: Tool) => outputSchemas && outputSchemaOf(name) !== undefined;

  const run = async (tool: Tool, era: Era, { id, params = {} }: HotRequest, identity: Identity, lane: Lane) => {
    const meta = isRecord(params._meta) ? params._meta : undefined;
    const given = isRecord(params.arguments) ? params.arguments : {};
    const { origin } = identity;
    const asker = era === 'modern' ? askerByMeta(meta) : undefined;
    const wire = { signal: lane.signal, asker, ...tellsProgress(meta?.progressToken, lane.notify) };
    const span = { method: 'tools/call', tool: tool.name, requestId: id, origin, meta };
    const called = await inSpan(span, () => callTool(tool, given, identity, wire));
    const result = 'question' in called ? await asking(called.question) : toResult(called, isStructured(tool));
    return era === 'modern' ? { ...modern, ...result } : result;
  };

  return (era, request, identity) => {
    const { params } = request;
    const tool = toolsByName.get(String(params?.name));
    if (!tool || params?.requestState !== undefined || params?.inputResponses !== undefined) return undefined;
    return (lane) => run(tool, era, request, identity, lane);
  };
}
