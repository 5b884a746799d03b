// The short way of tools/call: a first call of one of our own tools, well formed (wire.ts), goes to callTool without the
// SDK in between, which would read and check every message once more, for about as long as a short call takes in all. The
// answer is what the SDK's instance would have given, which a test compares. All else goes the long way: repeats that bring
// an answer to a question, tools of an extension, and names that are none.
import { inSpan } from '../../core/observe/traces.ts';
import { outputSchemaOf } from '../answers/output-schemas.ts';
import { toResult } from '../answers/result.ts';
import type { Question } from '../approvals/approval.ts';
import { askerByMeta } from '../approvals/asks-people.ts';
import type { CallTool, Identity } from '../call.ts';
import { tellsProgress } from '../progress.ts';
import type { Tool } from '../tools.ts';
import { SERVER_INFO_META_KEY } from './meta-keys.ts';
import type { HotRequest, Lane, Work } from './mux.ts';
import { type Era, isRecord } from './wire.ts';

export interface DirectParts {
  readonly toolsByName: ReadonlyMap<string, Tool>;
  readonly callTool: CallTool;
  /** As clients are told it. */
  readonly serverInfo: Readonly<Record<string, unknown>>;
  /** Whether answers are given as values, too. */
  readonly outputSchemas: boolean;
}

/** In the words of the SDK, which is loaded by the first question. */
async function asking(question: Question) {
  const { questionResult } = await import('../approvals/asker.ts');
  return questionResult(question);
}

/** What is to be done for a request, or undefined when it must go the long way. */
export type DirectCalls = (era: Era, request: HotRequest, identity: Identity) => Work | undefined;

export function createDirectCalls({ toolsByName, callTool, serverInfo, outputSchemas }: DirectParts): DirectCalls {
  // MCP 2026-07-28, results: what kind it is, and who answered.
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
