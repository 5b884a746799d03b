// The agent of a host application (spec 4.1): the description of its data (a Blueprint), the engine built from it, and
// the server. The engine can be rebuilt while it is in use. A restart swaps one pointer, and a failed restart changes
// nothing.

import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { resolve } from 'node:path';
import { Blueprint, closeSources, type EngineParts } from '../../agent/agent.ts';
import { callSite } from '../../agent/customize/call-site.ts';
import type { AnySchema } from '../../agent/customize/typed-schema.ts';
import type { Engine } from '../../agent/engine.ts';
import type { Config } from '../../core/config.ts';
import { failedCode } from '../../core/errors/code-failure.ts';
import { fail } from '../../core/errors.ts';
import { reportFailure } from '../../core/observe/failures.ts';
import { type ExpressHost, expressKind } from '../../frameworks/express.ts';
import { type FastifyHost, fastifyKind } from '../../frameworks/fastify.ts';
import type { HostKind, MountedHost, Next } from '../../frameworks/host.ts';
import { findHiddenRoutes, mountOn } from '../../frameworks/kinds.ts';
import { type KoaHost, koaKind } from '../../frameworks/koa.ts';
import { type NestHost, nestKind } from '../../frameworks/nest.ts';
import type { Store } from '../../store/store.ts';
import { createCodeReader } from '../../workflows/definition/code.ts';
import { type App, createApp, type Started } from '../create-server.ts';
import { refuse } from '../http-server.ts';
import { openPlatform, tellSchema } from '../remote-store.ts';
import { type Route, routeBeforeStart } from '../route.ts';
import { createAgentConfig, createAgentLog, createEngineParts, type StandaloneAt, warnOfUnused } from './config.ts';
import { AgentEngine, type Running } from './engine.ts';
import { findSchemaDifferences, type SchemaFileOptions, writeSchema, writeTypings } from './files.ts';
import {
  type AgentOptions,
  type CheckedOptions,
  checkAgentOptions,
  checkMcpOptions,
  checkTypingsOptions,
  type McpOptions,
} from './options.ts';

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The result of `start`. */
export interface AgentStarted {
  /** Stays the same object across restarts and always uses the latest build. */
  readonly engine: Engine;
  /** Null when the agent is not mounted. `mcpUrl` is '' without `mountAiMcpServer`. */
  readonly server: Pick<Started, 'address' | 'mcpUrl' | 'apiUrl' | 'consoleUrl' | 'metricsUrl'> | null;
}

type State = 'new' | 'starting' | 'started' | 'stopping';

/** An agent in a host application, made by `createAgent`. Describe the data, mount the agent, then call `start`. */
export class Agent<in out S extends object = AnySchema> extends Blueprint<S> {
  readonly #options: CheckedOptions;
  #state: State = 'new';
  #mcp: McpOptions | undefined;
  readonly #hosts = new Map<unknown, MountedHost>();
  #isHandlerTaken = false;
  #away: Route | undefined;
  #standalone: StandaloneAt | undefined;
  #app: App | undefined;
  /** Undefined while no server runs. */
  #platform: Store | undefined;
  #address: string | undefined;
  #restarting: Promise<unknown> = Promise.resolve();
  readonly #engine = new AgentEngine({
    build: (parts, abandon) => this.openEngine(parts, abandon),
    files: () => this.#fileOptions(),
  });

  /** @internal Use `createAgent`. */
  constructor(options: CheckedOptions) {
    super();
    this.#options = options;
  }

  /**
   * Serves MCP and its authorization server from `start` on, in addition to the HTTP API, wherever the agent is
   * mounted.
   */
  mountAiMcpServer(options: McpOptions = {}): this {
    const at = this.check(callSite(this.mountAiMcpServer));
    if (this.#mcp) fail('CONFIGURATION', { problem: `mountAiMcpServer was called before. (${at})` });
    this.#mcp = { ...checkMcpOptions(options, at) };
    this.#away = undefined;
    return this;
  }

  /**
   * `port` defaults to MCP_SERVER_PORT, else 3931; 0 picks a free port. `host` defaults to SERVICE_HOST, else
   * 127.0.0.1.
   */
  mountOnStandaloneServer(port?: number, host?: string): this {
    const at = this.check(callSite(this.mountOnStandaloneServer));
    if (this.#standalone)
      fail('CONFIGURATION', { problem: `mountOnStandaloneServer was called before: an agent has one server. (${at})` });
    if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535))
      fail('CONFIGURATION', { problem: `mountOnStandaloneServer: the port must be a number from 0 to 65535. (${at})` });
    if (host !== undefined && (typeof host !== 'string' || host === ''))
      fail('CONFIGURATION', { problem: `mountOnStandaloneServer: the host must be a name or an address. (${at})` });
    this.#standalone = { ...(port !== undefined && { port }), ...(host !== undefined && { host }) };
    return this;
  }

  /**
   * Serves through an Express application, version 4 or 5. The agent runs before all middleware of the application,
   * including middleware added later. It answers its own paths and passes every other request on. SERVICE_PUBLIC_URL
   * must be the address that clients use. To run at another position among the middleware, use `requestHandler`.
   */
  mountOnExpress(app: ExpressHost): this {
    return this.#mountOn(expressKind, app, callSite(this.mountOnExpress));
  }

  /**
   * Like `mountOnExpress`, for Fastify 4 or 5. Call it before Fastify is ready, because a ready instance accepts no
   * more hooks.
   */
  mountOnFastify(app: FastifyHost): this {
    return this.#mountOn(fastifyKind, app, callSite(this.mountOnFastify));
  }

  /** Like `mountOnExpress`, for Koa 2 or 3. */
  mountOnKoa(app: KoaHost): this {
    return this.#mountOn(koaKind, app, callSite(this.mountOnKoa));
  }

  /** Like `mountOnExpress`, for NestJS on Express or Fastify. */
  mountOnNestJs(app: NestHost): this {
    return this.#mountOn(nestKind, app, callSite(this.mountOnNestJs));
  }

  /**
   * A Node request handler for any other host, or for another position in one. It answers the paths of the agent, with
   * 503 while the agent is not started, and calls `next` for other requests. It accepts a body that earlier middleware
   * has already parsed.
   */
  get requestHandler(): (req: IncomingMessage, res: ServerResponse, next?: Next) => void {
    this.#isHandlerTaken = true;
    return this.#handle;
  }

  readonly #handle = (req: IncomingMessage, res: ServerResponse, next?: Next): void => {
    const goOn = next ?? (() => refuse(res, 'NOT_FOUND', { path: req.url ?? '/' }));
    if (this.#app) this.#app.handle(req, res, goOn);
    else this.#whileAway(req, res, goOn);
  };

  /** The port of the standalone server while it listens; undefined otherwise. */
  get standaloneServerPort(): number | undefined {
    return this.#address === undefined ? undefined : Number(new URL(this.#address).port);
  }

  /**
   * Opens the data sources, builds the engine and serves on every mount. Also writes the schema file and typings; in
   * production, it reads the schema file instead. On failure, it closes everything and throws CONFIGURATION or
   * SOURCE_UNAVAILABLE.
   */
  async start(): Promise<AgentStarted> {
    if (this.#state !== 'new')
      fail('CONFIGURATION', {
        problem: `The agent has been started: this is a second start. (${callSite(this.start)})`,
      });
    this.#checkMounts();
    this.closeBlueprint();
    this.#state = 'starting';
    try {
      const server = this.#isMounted ? await this.#serve() : null;
      const running = this.#engine.running ?? (await this.#engine.open(this.#createParts()));
      // Checks the workflows in code. A server does this itself when it starts.
      if (!server) createCodeReader(running.live.engine)();
      await this.#introduce(running);
      const { live } = running;
      this.#state = 'started';
      return { engine: live.engine, server };
    } catch (error) {
      if (failedCode(error).length > 0)
        reportFailure(createAgentLog(this.#createConfig(), this.#options), 'start', error);
      this.#state = 'new';
      this.#engine.forget();
      this.reopenBlueprint();
      throw error;
    }
  }

  /** Waits up to SERVICE_SHUTDOWN_SECONDS for running calls, then closes every connection. */
  async stop(): Promise<void> {
    if (this.#state === 'starting')
      fail('CONFIGURATION', { problem: `The agent is being started: stop it after that. (${callSite(this.stop)})` });
    const [app, running] = [this.#app, this.#engine.running];
    this.#state = 'stopping';
    await this.#restarting;
    this.#app = this.#address = this.#platform = undefined;
    this.#engine.forget();
    try {
      // This also closes the engine.
      if (app) await app.stop('stop');
      else await running?.live.engine.close();
    } finally {
      await this.#engine.closeKept();
      this.#state = 'new';
    }
  }

  /**
   * Rebuilds the engine: runs your callbacks again over the current structure of the sources. Running calls finish on
   * the old engine. On failure, the old engine stays in use and the promise rejects. Concurrent restarts run one after
   * the other.
   */
  restart(): Promise<void> {
    const at = callSite(this.restart);
    const next = this.#restarting.then(() => this.#rebuild(at));
    this.#restarting = next.catch(() => undefined);
    return next;
  }

  /**
   * Writes the schema to `schemaPath`, and typings to `typingsPath` if it is set, also in production. It starts no
   * server and does not contact the platform. Connections to the data sources stay open until `stop`. (In the agent
   * package that has this interface, the method exists since version 1.83.0.)
   */
  async generateSchemaOnly(): Promise<void> {
    const parts = this.#createParts();
    const opened = await this.openEngine(parts);
    this.#engine.keep(opened.sources);
    const { observe } = parts;
    writeSchema(opened, this.#fileOptions());
    const { typingsPath, typingsMaxDepth } = this.#options;
    if (typingsPath !== null) writeTypings(opened.model, { typingsPath, typingsMaxDepth }, observe);
  }

  /**
   * Returns the differences between the schema file and the served schema, one line each; an empty list if they agree.
   * Made for CI: it starts no server, writes no file, does not contact the platform and closes every connection. Throws
   * CONFIGURATION if the file is missing or invalid.
   */
  async checkSchema(): Promise<readonly string[]> {
    const opened = await this.openEngine(this.#createParts());
    try {
      return findSchemaDifferences(opened, this.#fileOptions());
    } finally {
      await closeSources(opened.sources);
    }
  }

  /**
   * Builds the engine for `look` and closes its connections afterwards. For tools that only read the model: it starts
   * no server, writes no file and does not contact the platform.
   * @internal
   */
  async lookAtEngine<T>(look: (engine: Engine) => T | Promise<T>): Promise<T> {
    const { engine, sources } = await this.openEngine(this.#createParts());
    try {
      return await look(engine);
    } finally {
      await closeSources(sources);
    }
  }

  /** Writes only the typings, from the running engine or from one built for this call. */
  async updateTypesOnFileSystem(typingsPath: string, typingsMaxDepth: number): Promise<void> {
    checkTypingsOptions(typingsPath, typingsMaxDepth, callSite(this.updateTypesOnFileSystem));
    const options = { typingsPath: resolve(typingsPath), typingsMaxDepth };
    const { running } = this.#engine;
    if (running) {
      writeTypings(running.opened.model, options, running.parts.observe);
      return;
    }
    const parts = this.#createParts();
    const { model, sources } = await this.openEngine(parts);
    try {
      writeTypings(model, options, parts.observe);
    } finally {
      await closeSources(sources);
    }
  }

  #mountOn(kind: HostKind, host: unknown, site: string): this {
    const at = this.check(site);
    const tell = (problem: string) => fail('CONFIGURATION', { problem: `${kind.call}: ${problem} (${at})` });
    if (this.#hosts.has(host)) tell('the agent is mounted on this application already.');
    this.#hosts.set(host, mountOn(kind, host, this.#handle, tell));
    return this;
  }

  get #isMounted(): boolean {
    return this.#standalone !== undefined || this.#hosts.size > 0 || this.#isHandlerTaken;
  }

  #checkMounts(): void {
    if (this.#mcp && !this.#isMounted)
      fail('CONFIGURATION', {
        problem:
          'mountAiMcpServer: no server is there to mount it on. Call mountOnStandaloneServer(port?, host?), or mountOnExpress(app) or its like for your application, or use requestHandler, as well.',
      });
  }

  #createConfig(): Config {
    return createAgentConfig(this.#options, { mcp: this.#mcp, standalone: this.#standalone });
  }

  #createParts(): EngineParts {
    return createEngineParts(this.#createConfig(), this.#options);
  }

  async #serve(): Promise<AgentStarted['server']> {
    const config = this.#createConfig();
    if (config.prefix === '' && (this.#hosts.size > 0 || this.#isHandlerTaken))
      fail('CONFIGURATION', {
        problem:
          "prefix: at the root, the HTTP API would take every path of your application. Give it a path such as '/service'.",
      });
    const { authSecret, envSecret, useUnsafeActionEndpoint, hostSignIn } = this.#options;
    const log = createAgentLog(config, this.#options);
    const app = createApp(config, {
      version,
      log,
      authSecret,
      envSecret,
      hostSignIn,
      openEngine: async (parts) => (await this.#engine.open({ ...parts, useUnsafeActionEndpoint })).live.engine,
      listens: this.#standalone !== undefined,
      servesMcp: this.#mcp !== undefined,
    });
    warnOfUnused(config, log);
    const { address, mcpUrl, apiUrl, consoleUrl, metricsUrl, store } = await app.start();
    this.#app = app;
    this.#platform = store;
    if (this.#standalone) this.#address = address;
    const hidden = findHiddenRoutes(this.#hosts.values(), app.claims);
    if (hidden.length > 0)
      log({
        type: 'warning',
        message: `Routes of the host application that are ours now and cannot be reached: ${hidden.join(', ')}. ${this.#mcp ? 'A basePath leaves them to it, or another prefix where they lie below that' : 'Another prefix leaves them to it'}.`,
      });
    return { address, mcpUrl, apiUrl, consoleUrl, ...(metricsUrl !== undefined && { metricsUrl }) };
  }

  /** While the server is down, the agent still claims its own paths, so the host does not answer them. */
  #whileAway(req: IncomingMessage, res: ServerResponse, next: Next): void {
    try {
      this.#away ??= routeBeforeStart({ ...this.#createConfig(), servesMcp: this.#mcp !== undefined });
    } catch {
      // Invalid settings do not define which paths belong to the agent. `start` reports the problem.
      next();
      return;
    }
    this.#away(req, res, next);
  }

  async #rebuild(at: string): Promise<void> {
    const { running } = this.#engine;
    if (!running || this.#state !== 'started')
      fail('CONFIGURATION', { problem: `There is nothing to restart: the agent is not started. (${at})` });
    await this.#engine.rebuild(running);
    this.#app?.tellOfChange();
    try {
      await this.#tellPlatform(running);
    } catch (cause) {
      const message = 'The platform could not be told of the new schema: it is told at the next start or restart.';
      running.parts.observe({ type: 'warning', message, cause });
    }
  }

  /** Runs at a start. If the platform cannot be notified, it stops everything again. */
  async #introduce(running: Running): Promise<void> {
    try {
      await this.#tellPlatform(running);
    } catch (error) {
      const app = this.#app;
      this.#app = this.#address = this.#platform = undefined;
      await (app ? app.stop('the platform could not be told of the schema') : running.live.engine.close());
      throw error;
    }
  }

  /** Reports the served schema to the platform. Without a server, it opens a connection only for this. */
  async #tellPlatform({ schema, parts }: Running): Promise<void> {
    if (this.#platform) return tellSchema(this.#platform, schema);
    const config = this.#createConfig();
    if (config.serverUrl === null) return;
    const { observe, clock } = parts;
    const platform = await openPlatform({ config, envSecret: this.#options.envSecret, observe, clock });
    try {
      await tellSchema(platform, schema);
    } finally {
      await platform.close();
    }
  }

  #fileOptions(): SchemaFileOptions {
    return { ...this.#options, prefix: this.#createConfig().prefix, version };
  }
}

/**
 * `S` is the interface from generated typings, if you have them. Throws CONFIGURATION, with your line of code, for
 * options that are missing, unknown or invalid.
 */
export function createAgent<S extends object = AnySchema>(options: AgentOptions): Agent<S> {
  return new Agent<S>(checkAgentOptions(options, callSite(createAgent)));
}
