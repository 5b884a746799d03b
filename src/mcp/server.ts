// Builds SDK server instances. The tool descriptions are built once; an instance only identifies the caller.
import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerCapabilities,
  type ServerContext,
  type ServerNotifier,
  type Tool as ToolDefinition,
} from '@modelcontextprotocol/server';
import type { Engine } from '../agent/engine.ts';
import { AppError } from '../core/errors.ts';
import { inSpan } from '../core/observe/telemetry.ts';
import { suggestNames } from '../core/suggestions.ts';
import { elicitationOf, questionResult, withRelatedRequest } from './approvals/elicitation.ts';
import { installCompletion } from './prompts/completion.ts';
import { installPrompts } from './prompts/handlers.ts';
import { installResources } from './resources/handlers.ts';
import { createCallerContext } from './resources/visible-resources.ts';
import { withoutTools } from './results/absent-tools.ts';
import { chartTools, declaresViews, EXTENSION, toolMeta, VIEW_TYPE } from './results/chart-view.ts';
import { outputSchemaOf } from './results/output-schemas.ts';
import { toResult } from './results/result.ts';
import { instructionsFor, type ServerInfo } from './server-info.ts';
import type { Tool } from './tool.ts';
import type { CallTool, CallTransport, Identity } from './tool-call.ts';
import { createProgressSender } from './transport/progress.ts';
import type { ToolList } from './visibility/tool-list.ts';

const LIST_TTL_MS = 300_000;

/** Adds tools beyond the table, for example those of the official conformance fixture. Configured in code only. */
export interface Extension {
  readonly capabilities: ServerCapabilities;
  readonly tools: readonly ExtraTool[];
  /** Called for every instance, before it connects. */
  install(server: Server): void;
}

export interface ExtraTool {
  readonly definition: ToolDefinition;
  readonly run: (
    params: Readonly<Record<string, unknown>>,
    ctx: ServerContext,
    notify: ServerNotifier,
  ) => Promise<CallToolResult | InputRequiredResult>;
}

export interface ServerParts {
  readonly serverInfo: ServerInfo;
  readonly tools: readonly Tool[];
  readonly toolList: ToolList;
  readonly engine: Engine;
  readonly callTool: CallTool;
  readonly extension?: Extension | undefined;
  /** Whether tools publish output schemas and return structured content. */
  readonly outputSchemas: boolean;
  /** Notifies listening clients of changes. */
  readonly notify: () => ServerNotifier;
}

/** Answers with the instructions at the time of the request: administrators change them while an instance serves. */
class InstructedServer extends Server {
  readonly #instructions: (ctx: ServerContext) => string;

  constructor(instructions: (ctx: ServerContext) => string, ...given: ConstructorParameters<typeof Server>) {
    super(...given);
    this.#instructions = instructions;
  }

  protected override _wrapHandler(...[method, handler]: Parameters<Server['_wrapHandler']>) {
    const wrapped = super._wrapHandler(method, handler);
    if (method !== 'initialize' && method !== 'server/discover') return wrapped;
    const answer: typeof wrapped = async (request, ctx) => ({
      ...(await wrapped(request, ctx)),
      instructions: this.#instructions(ctx),
    });
    return answer;
  }
}

/** Builds an instance. `listens`: whether its clients can receive notifications of changes. */
export type BuildServer = (identityOf: (ctx: ServerContext) => Identity | undefined, listens?: boolean) => Server;

export function createServerBuilder(parts: ServerParts): BuildServer {
  const { tools, toolList, callTool, extension } = parts;
  const definitions = new Map(tools.map((tool) => [tool, toDefinition(tool, parts.outputSchemas)]));
  const extensionTools = extension?.tools.map((tool) => tool.definition) ?? [];
  const visibleTools = ({ auth }: Identity): readonly Tool[] => toolList.toolsOf(toolList.maskFor(auth));
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const extras = new Map(extension?.tools.map((tool) => [tool.definition.name, tool]));
  const cached = { ttlMs: LIST_TTL_MS, cacheScope: 'private' } as const;

  return (identityOf, listens = false) => {
    const listed = listens ? { listChanged: true } : {};
    const instructions = (ctx: ServerContext) => instructionsFor(tools, parts.engine, identityOf(ctx)?.auth.access);
    const server = new InstructedServer(instructions, parts.serverInfo, {
      capabilities: {
        tools: listed,
        resources: listed,
        prompts: listed,
        completions: {},
        extensions: { [EXTENSION]: { mimeTypes: [VIEW_TYPE] } },
        ...extension?.capabilities,
      },
      cacheHints: {
        'tools/list': cached,
        'server/discover': cached,
        'prompts/list': cached,
        'resources/list': cached,
        'resources/templates/list': cached,
        'resources/read': cached,
      },
    });
    // Fail closed: a request without a checked token is refused.
    const identify = (ctx: ServerContext): Identity => identityOf(ctx) ?? failUnidentified();
    server.setRequestHandler('tools/list', async (_request, ctx) => {
      const identity = identify(ctx);
      await toolList.refresh();
      const hiddenTools = toolList.hiddenToolsFor(identity.auth);
      const showsViews = identity.showsViews || declaresViews(server.getClientCapabilities());
      const define = (tool: Tool): ToolDefinition => {
        const definitionOfTool = definitions.get(tool)!;
        const definition = { ...definitionOfTool, description: withoutTools(tool.description, hiddenTools) };
        return showsViews && chartTools.has(tool.name) ? { ...definition, _meta: toolMeta } : definition;
      };
      return { tools: [...visibleTools(identity).map(define), ...extensionTools] };
    });
    server.setRequestHandler('tools/call', async (request, ctx) => {
      const { name, arguments: input } = request.params;
      const identity = identify(ctx);
      const tool = byName.get(name);
      if (tool) {
        const { id: requestId, _meta: meta } = ctx.mcpReq;
        const { origin } = identity;
        const span = { method: 'tools/call', tool: name, requestId: origin?.requestId ?? requestId, origin, meta };
        const transport = { ...callTransportOf(ctx), asker: elicitationOf(ctx, server) };
        const outcome = await inSpan(span, () => callTool(tool, input ?? {}, identity, transport));
        if ('question' in outcome) return questionResult(outcome.question);
        return toResult(outcome, definitions.get(tool)?.outputSchema !== undefined);
      }
      const extra = extras.get(name);
      if (extra) return extra.run(request.params, withRelatedRequest(ctx), parts.notify());
      const near = suggestNames(
        name,
        visibleTools(identity).map((visible) => visible.name),
      );
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        new AppError('UNKNOWN_TOOL', { tool: name, near }).message,
      );
    });
    const contextOf = (ctx: ServerContext) => createCallerContext(parts, identify(ctx), callTransportOf(ctx));
    installResources(server, contextOf);
    installPrompts(server, contextOf);
    installCompletion(server, contextOf);
    extension?.install(server);
    return server;
  };
}

function callTransportOf({ mcpReq }: ServerContext): CallTransport {
  const { signal, _meta: meta } = mcpReq;
  return {
    signal,
    ...createProgressSender(meta?.progressToken, (method, params) => mcpReq.notify({ method, params })),
  };
}

function failUnidentified(): never {
  throw new ProtocolError(ProtocolErrorCode.InternalError, 'No identity for this request');
}

function toDefinition(tool: Tool, withOutput: boolean): ToolDefinition {
  const outputSchema = withOutput ? outputSchemaOf(tool.name) : undefined;
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: tool.inputSchema as ToolDefinition['inputSchema'],
    ...(outputSchema && { outputSchema: outputSchema as NonNullable<ToolDefinition['outputSchema']> }),
    annotations: tool.annotations,
  };
}
