// Shared by all transports: the enabled tools, their visibility, the execution of calls, with and without the SDK. The
// transports (mcp/endpoint.ts for HTTP, stdio.ts for a pipe) only identify the caller.
import type { Engine } from '../../agent/engine.ts';
import type { WriteWatch } from '../../agent/write/watch.ts';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import { inSpan } from '../../core/observe/telemetry.ts';
import type { Observe } from '../../core/observe.ts';
import type { TokenAuthenticator } from '../../oauth/tokens/bearer.ts';
import type { IdempotencyKeys } from '../../store/approvals/types.ts';
import type { ActivityLog } from '../../store/audit/activity-types.ts';
import type { ApprovalCheck, ApprovalQuestion } from '../approvals/approval.ts';
import { elicitationByMeta } from '../approvals/supports-elicitation.ts';
import { outputSchemaOf } from '../results/output-schemas.ts';
import { toResult } from '../results/result.ts';
import type { Extension, ServerParts } from '../server.ts';
import { describeServer, type ServerBrand } from '../server-info.ts';
import type { Tool, WorkflowAccess } from '../tool.ts';
import { type CallTool, createCallTool, type Identity } from '../tool-call.ts';
import { selectTools } from '../tools.ts';
import type { Files } from '../uploads/files.ts';
import { createToolList, type ToolList } from '../visibility/tool-list.ts';
import { isRecord, type ProtocolEra } from './json-rpc.ts';
import { SERVER_INFO_META_KEY } from './meta-keys.ts';
import { createRestrictingAuthenticator, type RestrictingAuthenticator } from './narrowing.ts';
import { createProgressSender } from './progress.ts';
import type { DirectWork, MultiplexedRequest, ResponseChannel } from './request-multiplexer.ts';

export interface ServingParts {
  readonly config: Config;
  readonly engine: Engine;
  readonly authenticator: TokenAuthenticator;
  readonly files: Files;
  readonly activity: Pick<ActivityLog, 'record' | 'begin'>;
  readonly idempotency: IdempotencyKeys;
  readonly approval: ApprovalCheck;
  readonly workflows?: WorkflowAccess | undefined;
  readonly watch?: WriteWatch | undefined;
  readonly observe: Observe;
  readonly clock: Clock;
  /** The version of this package, which clients see. */
  readonly version: string;
  /** The name and icon that clients show. Default: those of Portico. */
  readonly brand?: ServerBrand | undefined;
  readonly extension?: Extension;
}

interface Serving {
  readonly authenticator: RestrictingAuthenticator;
  readonly toolsByName: ReadonlyMap<string, Tool>;
  readonly toolList: ToolList;
  /** The parts of every SDK instance. */
  readonly server: Omit<ServerParts, 'notify'>;
  readonly fastPath: FastPath;
  readonly onerror: (cause: Error) => void;
  /**
   * Resolves when no call is in progress. A shutdown waits for it, because an aborted call still writes its log entry.
   */
  whenIdle(): Promise<void>;
}

/** Throws CONFIGURATION for enabled tools that do not exist. */
export function createServing(parts: ServingParts): Serving {
  const { config, engine, observe, version, extension } = parts;
  const authenticator = createRestrictingAuthenticator(parts.authenticator);
  const tools = selectTools(config.enabledTools, observe);
  const toolList = createToolList(tools, engine, parts.workflows?.service.listActive);
  const { callTool, whenIdle } = trackCalls(createCallTool({ ...parts, authenticator, toolList }));
  const toolsByName = new Map(tools.map((tool) => [tool.name, tool]));
  const serverInfo = describeServer(version, parts.brand);
  const { outputSchemas } = config;
  return {
    authenticator,
    toolsByName,
    toolList,
    fastPath: createFastPath({ toolsByName, callTool, serverInfo, outputSchemas }),
    server: { serverInfo, tools, toolList, engine, callTool, extension, outputSchemas },
    onerror: (cause) => observe({ type: 'warning', message: `The MCP SDK reported: ${cause.message}` }),
    whenIdle,
  };
}

function trackCalls(callTool: CallTool): { readonly callTool: CallTool; whenIdle(): Promise<void> } {
  let runningCount = 0;
  let idleWaiters: (() => void)[] = [];
  const end = () => {
    if (--runningCount > 0) return;
    const waiting = idleWaiters;
    idleWaiters = [];
    for (const resolve of waiting) resolve();
  };
  return {
    callTool(...call) {
      runningCount++;
      const running = callTool(...call);
      running.then(end, end);
      return running;
    },
    async whenIdle() {
      while (runningCount > 0) await new Promise<void>((resolve) => idleWaiters.push(resolve));
    },
  };
}

interface FastPathParts {
  readonly toolsByName: ReadonlyMap<string, Tool>;
  readonly callTool: CallTool;
  /** The name and version of the server, as clients get them. */
  readonly serverInfo: object;
  /** Whether results also contain structured content. */
  readonly outputSchemas: boolean;
}

/** Builds the question with the SDK, which the first question loads. */
async function toQuestionResult(question: ApprovalQuestion) {
  const { questionResult } = await import('../approvals/elicitation.ts');
  return questionResult(question);
}

/** Returns the work of a request, or undefined if the SDK must handle it. */
type FastPath = (era: ProtocolEra, request: MultiplexedRequest, identity: Identity) => DirectWork | undefined;

/**
 * A well-formed first call of a built-in tool (json-rpc.ts) goes to callTool without the SDK. The SDK would parse and
 * validate every message again, which takes about as long as a short call itself. A test compares the results with
 * those of the SDK instance. All other calls take the SDK's path: repeats with an answer to a question, tools of an
 * extension, and unknown names.
 */
function createFastPath({ toolsByName, callTool, serverInfo, outputSchemas }: FastPathParts): FastPath {
  // MCP 2026-07-28, results: every result has a type and the server info.
  const modern = { resultType: 'complete', _meta: { [SERVER_INFO_META_KEY]: serverInfo } };

  const isStructured = ({ name }: Tool) => outputSchemas && outputSchemaOf(name) !== undefined;

  const run = async (
    tool: Tool,
    era: ProtocolEra,
    { id, params = {} }: MultiplexedRequest,
    identity: Identity,
    channel: ResponseChannel,
  ) => {
    const meta = isRecord(params._meta) ? params._meta : undefined;
    const input = isRecord(params.arguments) ? params.arguments : {};
    const { origin } = identity;
    const asker = era === 'modern' ? elicitationByMeta(meta) : undefined;
    const progressSender =
      meta?.progressToken === undefined ? {} : createProgressSender(meta.progressToken, channel.notify);
    const transport = { signal: channel.signal, asker, ...progressSender };
    const span = { method: 'tools/call', tool: tool.name, requestId: id, origin, meta };
    const outcome = await inSpan(span, () => callTool(tool, input, identity, transport));
    const result =
      'question' in outcome ? await toQuestionResult(outcome.question) : toResult(outcome, isStructured(tool));
    return era === 'modern' ? { ...modern, ...result } : result;
  };

  return (era, request, identity) => {
    const { params } = request;
    const tool = toolsByName.get(String(params?.name));
    if (!tool || params?.requestState !== undefined || params?.inputResponses !== undefined) return undefined;
    return (channel) => run(tool, era, request, identity, channel);
  };
}
