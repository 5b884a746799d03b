// The agent of a host application (behaviour 4.1): the description of its data (`AgentBuilder`), the engine built from it,
// and the server. The engine can be rebuilt while it is in use. A restart swaps one pointer, and a failed restart
// changes nothing.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { resolve } from 'node:path';
import { AgentBuilder } from '../../agent/agent.ts';
import { callSite } from '../../agent/customize/call-site.ts';
import type { EngineParts } from '../../agent/customize/engine-parts.ts';
import type { AnySchema } from '../../agent/customize/typed-schema.ts';
import type { Engine } from '../../agent/engine.ts';
import { closeSources, LiveEngine, type OpenedEngine, type Running } from '../../agent/live-engine.ts';
import { readPackageVersion } from '../../core/config/package-files.ts';
import type { Config } from '../../core/config.ts';
import { listCodeFailures } from '../../core/errors/code-failure.ts';
import { fail } from '../../core/errors.ts';
import { reportFailure } from '../../core/observe/failures.ts';
import { type ExpressHost, expressKind } from '../../frameworks/express.ts';
import { type FastifyHost, fastifyKind } from '../../frameworks/fastify.ts';
import type { HostKind, Next } from '../../frameworks/host.ts';
import { type KoaHost, koaKind } from '../../frameworks/koa.ts';
import { type NestHost, nestKind } from '../../frameworks/nest.ts';
import type { Store } from '../../store/store.ts';
import { createCodeReader } from '../../workflows/definition/code.ts';
import type { App, Started } from '../create-server.ts';
import { routeBeforeStart } from '../route.ts';
import { createAgentConfig, createAgentLog, createEngineParts } from './config.ts';
import { findSchemaDifferences, type SchemaFileOptions, syncSchemaFiles, writeSchema, writeTypings } from './files.ts';
import { Mounts } from './mounts.ts';
import {
  type AgentOptions,
  type CheckedOptions,
  checkAgentOptions,
  checkMcpOptions,
  checkTypingsOptions,
  type McpOptions,
} from './options.ts';
import { sendAgentSchema, serveAgent } from './serve.ts';

const version = readPackageVersion();

/** The result of `start`. */
export interface AgentStarted {
  /** Stays the same object across restarts and always uses the latest build. */
  readonly engine: Engine;
  /** Null when the agent is not mounted. `mcpUrl` is '' without `mountAiMcpServer`. */
  readonly server: Pick<Started, 'address' | 'mcpUrl' | 'apiUrl' | 'consoleUrl' | 'metricsUrl'> | null;
}

type State = 'new' | 'starting' | 'started' | 'stopping';

/** An agent in a host application, made by `createAgent`. Describe the data, mount the agent, then call `start`. */
export class Agent<in out S extends object = AnySchema> extends AgentBuilder<S> {
  readonly #options: CheckedOptions;
  #state: State = 'new';
  #mcp: McpOptions | undefined;
  #app: App | undefined;
  readonly #mounts = new Mounts({
    app: () => this.#app,
    routeBeforeStart: () => routeBeforeStart({ ...this.#createConfig(), servesMcp: this.#mcp !== undefined }),
  });
  /** Undefined while no server runs. */
  #platform: Store | undefined;
  #address: string | undefined;
  readonly #engine = new LiveEngine<EngineParts>({
    build: (parts, abandon) => this.openEngine(parts, abandon),
    accept: (opened, { observe }, cause) => syncSchemaFiles(opened, this.#fileOptions(), observe, cause),
    afterRebuild: (running) => this.#sendChangedSchema(running),
  });

  /** @internal Use `createAgent`. */
  constructor(options: CheckedOptions) {
    super();
    this.#options = options;
  }

  /**
   * Serves MCP and its authorization server from `start` on, in addition to the HTTP API, wherever the agent is
   * mounted. CONFIGURATION for a second call, and for a tool that does not exist.
   *
   * @example
   * agent.mountAiMcpServer({ enabledTools: ['describeCollection', 'list'], basePath: '/data' });
   */
  mountAiMcpServer(options: McpOptions = {}): this {
    const at = this.check(callSite(this.mountAiMcpServer));
    if (this.#mcp) fail('CONFIGURATION', { problem: `mountAiMcpServer was already called. (${at})` });
    this.#mcp = { ...checkMcpOptions(options, at) };
    this.#mounts.forgetRoute();
    return this;
  }

  /**
   * Serves on a server of its own. `port` defaults to MCP_SERVER_PORT, else 3931; 0 picks a free port. `host` defaults
   * to SERVICE_HOST, else 127.0.0.1. CONFIGURATION for a second call, and at the start if the port is in use.
   *
   * @example
   * agent.mountOnStandaloneServer(0);
   * await agent.start();
   * console.log(agent.standaloneServerPort);
   */
  mountOnStandaloneServer(port?: number, host?: string): this {
    const at = this.check(callSite(this.mountOnStandaloneServer));
    this.#mounts.addServer({ port, host }, at);
    return this;
  }

  /**
   * Serves through an Express application, version 4 or 5. The agent runs before all middleware of the application,
   * including middleware added later. It answers its own paths and passes every other request on. SERVICE_PUBLIC_URL
   * must be the address that clients use. To run at another position among the middleware, use `requestHandler`.
   *
   * @example
   * import express from 'express';
   *
   * const app = express();
   * agent.mountOnExpress(app);
   * await agent.start();
   * app.listen(3000, '127.0.0.1');
   */
  mountOnExpress(app: ExpressHost): this {
    return this.#mountOn(expressKind, app, callSite(this.mountOnExpress));
  }

  /**
   * Like `mountOnExpress`, for Fastify 4 or 5. Call it before Fastify is ready, because a ready instance accepts no
   * more hooks.
   *
   * @example
   * import Fastify from 'fastify';
   *
   * const app = Fastify();
   * agent.mountOnFastify(app);
   * await agent.start();
   * await app.listen({ port: 3000 });
   */
  mountOnFastify(app: FastifyHost): this {
    return this.#mountOn(fastifyKind, app, callSite(this.mountOnFastify));
  }

  /**
   * Like `mountOnExpress`, for Koa 2 or 3.
   *
   * @example
   * import Koa from 'koa';
   *
   * const app = new Koa();
   * agent.mountOnKoa(app);
   * await agent.start();
   * app.listen(3000, '127.0.0.1');
   */
  mountOnKoa(app: KoaHost): this {
    return this.#mountOn(koaKind, app, callSite(this.mountOnKoa));
  }

  /**
   * Like `mountOnExpress`, for NestJS on Express or Fastify.
   *
   * @example
   * import { NestFactory } from '@nestjs/core';
   *
   * class AppModule {}
   * const app = await NestFactory.create(AppModule);
   * agent.mountOnNestJs(app);
   * await agent.start();
   * await app.listen(3000);
   */
  mountOnNestJs(app: NestHost): this {
    return this.#mountOn(nestKind, app, callSite(this.mountOnNestJs));
  }

  /**
   * A Node request handler for any other host, or for another position in one. It answers the paths of the agent, with
   * 503 while the agent is not started, and calls `next` for other requests. It accepts a body that earlier middleware
   * has already parsed.
   *
   * @example
   * import { createServer } from 'node:http';
   *
   * createServer(agent.requestHandler).listen(3000, '127.0.0.1');
   */
  get requestHandler(): (req: IncomingMessage, res: ServerResponse, next?: Next) => void {
    return this.#mounts.takeHandler();
  }

  /**
   * The port of the standalone server while it listens; undefined otherwise.
   *
   * @example
   * await agent.mountOnStandaloneServer(0).start();
   * console.log(`Listening on port ${agent.standaloneServerPort}`);
   */
  get standaloneServerPort(): number | undefined {
    return this.#address === undefined ? undefined : Number(new URL(this.#address).port);
  }

  /**
   * Opens the data sources, builds the engine and serves on every mount. Also writes the schema file and typings; in
   * production, it reads the schema file instead. On failure, it closes everything and throws CONFIGURATION or
   * SOURCE_UNAVAILABLE.
   *
   * @example
   * const { engine, server } = await agent.start();
   * console.log(server?.mcpUrl, engine.workflows.length);
   */
  async start(): Promise<AgentStarted> {
    if (this.#state !== 'new')
      fail('CONFIGURATION', {
        problem: `The agent is already started. (${callSite(this.start)})`,
      });
    this.#checkMounts();
    this.closeBuilder();
    this.#state = 'starting';
    try {
      const server = this.#mounts.isMounted ? await this.#serve() : null;
      const running = this.#engine.running ?? (await this.#engine.open(this.#createParts()));
      // Checks the workflows in code. A server does this itself when it starts.
      if (!server) createCodeReader(running.live.engine)();
      await this.#introduce(running);
      const { live } = running;
      this.#state = 'started';
      return { engine: live.engine, server };
    } catch (error) {
      if (listCodeFailures(error).length > 0)
        reportFailure(createAgentLog(this.#createConfig(), this.#options), 'start', error);
      this.#state = 'new';
      this.#engine.forget();
      this.reopenBuilder();
      throw error;
    }
  }

  /**
   * Waits up to SERVICE_SHUTDOWN_SECONDS for running calls, then closes every connection. CONFIGURATION while the agent
   * is starting.
   *
   * @example
   * process.once('SIGTERM', () => void agent.stop());
   */
  async stop(): Promise<void> {
    if (this.#state === 'starting')
      fail('CONFIGURATION', {
        problem: `The agent is starting. Wait for the start before you stop it. (${callSite(this.stop)})`,
      });
    const [app, running] = [this.#app, this.#engine.running];
    this.#state = 'stopping';
    await this.#engine.settled();
    this.#app = this.#address = this.#platform = undefined;
    this.#engine.forget();
    try {
      // This also closes the engine.
      if (app) await app.stop('stop');
      else await running?.live.engine.close();
    } finally {
      await this.#engine.closePending();
      this.#state = 'new';
    }
  }

  /**
   * Rebuilds the engine: runs your callbacks again over the current structure of the sources. Running calls finish on
   * the old engine. On failure, the old engine stays in use and the promise rejects. Concurrent restarts run one after
   * the other. CONFIGURATION if the agent is not started.
   *
   * @example
   * setInterval(() => void agent.restart().catch(console.error), 3_600_000);
   */
  restart(): Promise<void> {
    const at = callSite(this.restart);
    return this.#engine.enqueue(() => this.#rebuild(at));
  }

  /**
   * Writes the schema to `schemaPath`, and typings to `typingsPath` if it is set, also in production. It starts no
   * server and does not contact the platform. Connections to the data sources stay open until `stop`. (In the agent
   * package that has this interface, the method exists since version 1.83.0.)
   *
   * @example
   * await agent.generateSchemaOnly();
   * await agent.stop();
   */
  async generateSchemaOnly(): Promise<void> {
    const parts = this.#createParts();
    const opened = await this.openEngine(parts);
    this.#engine.closeLater(opened.sources);
    const { observe } = parts;
    writeSchema(opened, this.#fileOptions());
    const { typingsPath, typingsMaxDepth } = this.#options;
    if (typingsPath !== null) writeTypings(opened.model, { typingsPath, typingsMaxDepth }, observe);
  }

  /**
   * Returns the differences between the schema file and the served schema, one line each; an empty list if they agree.
   * Made for CI: it starts no server, writes no file, does not contact the platform and closes every connection. Throws
   * CONFIGURATION if the file is missing or invalid.
   *
   * @example
   * const differences = await agent.checkSchema();
   * if (differences.length > 0) throw new Error(differences.join('\n'));
   */
  async checkSchema(): Promise<readonly string[]> {
    return this.#lookAt((opened) => findSchemaDifferences(opened, this.#fileOptions()));
  }

  /**
   * Builds the engine for `look` and closes its connections afterwards. For tools that only read the model: it starts
   * no server, writes no file and does not contact the platform.
   * @internal
   */
  async withEngine<T>(run: (engine: Engine) => T | Promise<T>): Promise<T> {
    return this.#lookAt(({ engine }) => run(engine));
  }

  /**
   * Writes only the typings, from the running engine or from one built for this call. CONFIGURATION for a path or a
   * depth that is not valid.
   *
   * @example
   * await agent.updateTypesOnFileSystem('typings.ts', 3);
   */
  async updateTypesOnFileSystem(typingsPath: string, typingsMaxDepth: number): Promise<void> {
    checkTypingsOptions(typingsPath, typingsMaxDepth, callSite(this.updateTypesOnFileSystem));
    const options = { typingsPath: resolve(typingsPath), typingsMaxDepth };
    const { running } = this.#engine;
    const write = ({ model }: OpenedEngine, { observe }: EngineParts) => writeTypings(model, options, observe);
    if (running) write(running.opened, running.parts);
    else await this.#lookAt(write);
  }

  /** Builds an engine for `look` and closes its connections afterwards. */
  async #lookAt<T>(look: (opened: OpenedEngine, parts: EngineParts) => T | Promise<T>): Promise<T> {
    const parts = this.#createParts();
    const opened = await this.openEngine(parts);
    try {
      return await look(opened, parts);
    } finally {
      await closeSources(opened.sources);
    }
  }

  #mountOn(kind: HostKind, host: unknown, callSiteText: string): this {
    this.#mounts.addHost(kind, host, this.check(callSiteText));
    return this;
  }

  #checkMounts(): void {
    if (this.#mcp && !this.#mounts.isMounted)
      fail('CONFIGURATION', {
        problem:
          'mountAiMcpServer: there is no server to mount it on. Also call mountOnStandaloneServer(port?, host?), or mountOnExpress(app) or the equivalent for your framework, or use requestHandler.',
      });
  }

  #createConfig(): Config {
    return createAgentConfig(this.#options, { mcp: this.#mcp, standalone: this.#mounts.server });
  }

  #createParts(): EngineParts {
    return createEngineParts(this.#createConfig(), this.#options);
  }

  async #serve(): Promise<AgentStarted['server']> {
    const { app, started, address, store } = await serveAgent({
      config: this.#createConfig(),
      options: this.#options,
      version,
      mounts: this.#mounts,
      servesMcp: this.#mcp !== undefined,
      openEngine: async (parts) => (await this.#engine.open(parts)).live.engine,
    });
    this.#app = app;
    this.#platform = store;
    if (this.#mounts.server) this.#address = address;
    return started;
  }

  async #rebuild(at: string): Promise<void> {
    const { running } = this.#engine;
    if (!running || this.#state !== 'started')
      fail('CONFIGURATION', { problem: `Cannot restart: the agent is not started. (${at})` });
    await this.#engine.rebuild(running);
  }

  async #sendChangedSchema(running: Running<EngineParts>): Promise<void> {
    try {
      await this.#sendSchema(running);
    } catch (cause) {
      const message = 'Failed to send the new schema to the platform. The next start or restart sends it.';
      running.parts.observe({ type: 'warning', message, cause });
    }
  }

  /** Runs at a start. If the platform cannot be notified, it stops everything again. */
  async #introduce(running: Running<EngineParts>): Promise<void> {
    try {
      await this.#sendSchema(running);
    } catch (error) {
      const app = this.#app;
      this.#app = this.#address = this.#platform = undefined;
      await (app ? app.stop('failed to send the schema to the platform') : running.live.engine.close());
      throw error;
    }
  }

  #sendSchema({ schema, parts }: Running<EngineParts>): Promise<void> {
    const platform = { config: this.#createConfig(), envSecret: this.#options.envSecret, store: this.#platform };
    return sendAgentSchema(schema, platform, parts);
  }

  #fileOptions(): SchemaFileOptions {
    return { ...this.#options, prefix: this.#createConfig().prefix, version };
  }
}

/**
 * Creates the agent of an application. `S` is the interface from generated typings, if you have them. Throws
 * CONFIGURATION, with your line of code, for options that are missing, unknown or invalid.
 *
 * @example
 * const { AUTH_SECRET = '', ENV_SECRET = '', DATABASE_URL = '' } = process.env;
 *
 * const shop = createAgent({ authSecret: AUTH_SECRET, envSecret: ENV_SECRET })
 *   .addDataSource(createSqlDataSource(DATABASE_URL))
 *   .mountAiMcpServer()
 *   .mountOnStandaloneServer();
 * const { server } = await shop.start();
 */
export function createAgent<S extends object = AnySchema>(options: AgentOptions): Agent<S> {
  return new Agent<S>(checkAgentOptions(options, callSite(createAgent)));
}
