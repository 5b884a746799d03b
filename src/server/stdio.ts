// The composition for a client that starts a process: the same data, access checks and tools as `createApp`, over a
// pipe and without a port. A server may run on the same data at the same time.
import type { Readable, Writable } from 'node:stream';
import { type Clock, systemClock } from '../core/clock.ts';
import { hasSso } from '../core/config/sso.ts';
import type { Config } from '../core/config.ts';
import { AppError, fail, isAppError } from '../core/errors.ts';
import { createTelemetryListener } from '../core/observe/telemetry.ts';
import { createLogListener, createObserver } from '../core/observe.ts';
import { type RestrictionParameters, toRestrictions } from '../mcp/transport/narrowing.ts';
import { openStdioServer } from '../mcp/transport/stdio.ts';
import { createFiles } from '../mcp/uploads/files.ts';
import { createPaths } from '../oauth/server/paths.ts';
import { createTokenAuthenticator } from '../oauth/tokens/bearer.ts';
import { isApplicationToken } from '../store/oauth/tokens.ts';
import { createChangeWatch } from '../workflows/automatic/changes.ts';
import { createRuleReader } from '../workflows/automatic/rules.ts';
import { openApprovals } from './approval.ts';
import { type DataOptions, openData } from './data.ts';

interface StdioOptions extends Pick<DataOptions, 'customize'> {
  /** Version of this package, reported to clients. */
  readonly version: string;
  readonly restrictions: RestrictionParameters;
  readonly input: Readable;
  /** Must receive no other output. */
  readonly output: Writable;
  readonly clock?: Clock;
}

interface StdioApp {
  /** Resolves when the client closes its side or exits. */
  readonly ended: Promise<void>;
  /** Waits briefly for running calls, cancels the rest, writes batched entries, and closes. */
  stop(reason: string): Promise<void>;
}

/** The official clients kill a server two seconds after they request its end. */
const GRACE_MS = 1500;

/** Closes everything and throws CONFIGURATION if the token is missing or invalid. */
export async function startStdio(configured: Config, options: StdioOptions): Promise<StdioApp> {
  const clock = options.clock ?? systemClock;
  const { observe, listen } = createObserver();
  listen(createLogListener(configured.logLevel));
  listen(createTelemetryListener(clock));
  const token = checkTokenFormat(configured.mcpToken);
  const restrictions = toRestrictions(options.restrictions);
  // Files use HTTP, through a server that runs next to this process, if there is one.
  const publicUrl = configured.publicUrl ?? `http://127.0.0.1:${configured.port}`;
  const config = { ...configured, publicUrl };
  const from = clock.monotonic();
  const { store, engine } = await openData(config, observe, clock, options);
  const close = async () => {
    await engine.close();
    await store.close();
  };
  const paths = createPaths(publicUrl, config.basePath);
  const { version, input, output } = options;
  const opening = openStdioServer({
    config,
    engine,
    authenticator: createTokenAuthenticator({ store, paths, clock, defaultScopes: [], sso: hasSso(config) }),
    files: createFiles({
      rows: store.files,
      config,
      clock,
      endpoint: () => `${publicUrl}${config.basePath}/mcp`,
      isActive: async (userId) => (await store.permissions.accessOf(userId)) !== undefined,
    }),
    activity: store.activity,
    // Another process starts the runs.
    watch: createChangeWatch({ store, rules: createRuleReader(store), clock, observe, nudge: () => undefined }),
    idempotency: store.idempotency,
    approval: openApprovals(store, config, clock),
    observe,
    clock,
    version,
    brand: { name: configured.brandName ?? undefined, icon: undefined },
    token,
    restrictions,
    input,
    output,
  });
  const server = await opening.catch(async (error: unknown) => {
    await close();
    if (!isAppError(error, 'UNAUTHENTICATED')) throw error;
    throw new AppError('CONFIGURATION', { problem: `SERVICE_MCP_TOKEN: ${error.message}` }, error);
  });
  observe({ type: 'server.started', address: 'stdio', milliseconds: Math.round(clock.monotonic() - from) });
  let stopping: Promise<void> | undefined;
  return {
    ended: server.ended,
    stop(reason) {
      stopping ??= (async () => {
        observe({ type: 'server.stopping', reason });
        await server.close(Math.min(GRACE_MS, config.shutdownSeconds * 1000));
        await close();
        observe({ type: 'server.stopped' });
      })();
      return stopping;
    },
  };
}

/** Checks the format first, because a malformed token needs no database. */
function checkTokenFormat(token: string | null): string {
  const hint = "'portico token create --user <email> --name <name> --scopes mcp:read' creates one.";
  if (token === null) {
    fail('CONFIGURATION', {
      problem: `SERVICE_MCP_TOKEN or SERVICE_MCP_TOKEN_FILE must contain an application token, which identifies the user. ${hint}`,
    });
  }
  if (!isApplicationToken(token)) {
    fail('CONFIGURATION', {
      problem: `SERVICE_MCP_TOKEN: this is not an application token; those begin with svc_. ${hint}`,
    });
  }
  return token;
}
