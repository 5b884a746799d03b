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
import { inSpan } from '../core/observe/traces.ts';
import { nearNames } from '../core/suggestions.ts';
import { askerOf, askOnCall, questionResult } from './approvals/elicitation.ts';
import { tellsProgress } from './progress.ts';
import { installCompletion } from './prompts/completion.ts';
import { installPrompts } from './prompts/handlers.ts';
import { installResources } from './resources/handlers.ts';
import { createViewing } from './resources/visible-resources.ts';
import { withoutTools } from './results/absent-tools.ts';
import { declaresViews, drawn, EXTENSION, toolMeta, VIEW_TYPE } from './results/chart-view.ts';
import { outputSchemaOf } from './results/output-schemas.ts';
import { toResult } from './results/result.ts';
import { instructionsFor, type serverName } from './server-info.ts';
import type { Tool } from './tool.ts';
import type { CallTool, CallWire, Identity } from './tool-call.ts';
import type { Menu } from './visibility/tool-list.ts';

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
  readonly serverInfo: typeof serverName & { readonly version: string };
  readonly tools: readonly Tool[];
  readonly menu: Menu;
  readonly engine: Engine;
  readonly callTool: CallTool;
  readonly extension?: Extension | undefined;
  /** Whether tools publish output schemas and return structured content. */
  readonly outputSchemas: boolean;
  /** Notifies listening clients of changes. */
  readonly notify: () => ServerNotifier;
}

/** Builds an instance. `listens`: whether its clients can receive notifications of changes. */
export type BuildServer = (identityOf: (ctx: ServerContext) => Identity | undefined, listens?: boolean) => Server;

export function createServerBuilder(parts: ServerParts): BuildServer {
  const { tools, menu, callTool, extension } = parts;
  const definitions = new Map(tools.map((tool) => [tool, toDefinition(tool, parts.outputSchemas)]));
  const added = extension?.tools.map((tool) => tool.definition) ?? [];
  const shownTo = ({ auth }: Identity): readonly Tool[] => menu.toolsOf(menu.maskFor(auth));
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const extras = new Map(extension?.tools.map((tool) => [tool.definition.name, tool]));
  const cached = { ttlMs: LIST_TTL_MS, cacheScope: 'private' } as const;

  return (identityOf, listens = false) => {
    const listed = listens ? { listChanged: true } : {};
    const server = new Server(parts.serverInfo, {
      capabilities: {
        tools: listed,
        resources: listed,
        prompts: listed,
        completions: {},
        extensions: { [EXTENSION]: { mimeTypes: [VIEW_TYPE] } },
        ...extension?.capabilities,
      },
      instructions: instructionsFor(tools),
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
    const identify = (ctx: ServerContext): Identity => identityOf(ctx) ?? failUnknown();
    server.setRequestHandler('tools/list', async (_request, ctx) => {
      const identity = identify(ctx);
      await menu.look();
      const absent = menu.absentFor(identity.auth);
      const views = identity.views || declaresViews(server.getClientCapabilities());
      const define = (tool: Tool): ToolDefinition => {
        const made = definitions.get(tool)!;
        const definition = { ...made, description: withoutTools(tool.description, absent) };
        return views && drawn.has(tool.name) ? { ...definition, _meta: toolMeta } : definition;
      };
      return { tools: [...shownTo(identity).map(define), ...added] };
    });
    server.setRequestHandler('tools/call', async (request, ctx) => {
      const { name, arguments: given } = request.params;
      const identity = identify(ctx);
      const tool = byName.get(name);
      if (tool) {
        const { id: requestId, _meta: meta } = ctx.mcpReq;
        const { origin } = identity;
        const span = { method: 'tools/call', tool: name, requestId: origin?.requestId ?? requestId, origin, meta };
        const wire = { ...wireOf(ctx), asker: askerOf(ctx, server) };
        const called = await inSpan(span, () => callTool(tool, given ?? {}, identity, wire));
        if ('question' in called) return questionResult(called.question);
        return toResult(called, definitions.get(tool)?.outputSchema !== undefined);
      }
      const extra = extras.get(name);
      if (extra) return extra.run(request.params, askOnCall(ctx), parts.notify());
      const near = nearNames(
        name,
        shownTo(identity).map((shown) => shown.name),
      );
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        new AppError('UNKNOWN_TOOL', { tool: name, near }).message,
      );
    });
    const viewingOf = (ctx: ServerContext) => createViewing(parts, identify(ctx), wireOf(ctx));
    installResources(server, viewingOf);
    installPrompts(server, viewingOf);
    installCompletion(server, viewingOf);
    extension?.install(server);
    return server;
  };
}

export function wireOf({ mcpReq }: ServerContext): CallWire {
  const { signal, _meta: meta } = mcpReq;
  return { signal, ...tellsProgress(meta?.progressToken, (method, params) => mcpReq.notify({ method, params })) };
}

function failUnknown(): never {
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
