// The agent of a host application (spec 4.1): what is said of its data (a Blueprint), the engine that is built of it, and
// the server in front. The engine can be built again while it is used: a restart swaps one pointer, and a restart that
// fails changes nothing.
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { resolve } from 'node:path';
import { Blueprint, closeSources, type EngineParts } from '../agent/agent.ts';
import { callSite } from '../agent/customize/call-site.ts';
import type { AnySchema } from '../agent/customize/typed-schema.ts';
import type { Engine } from '../agent/engine.ts';
import { type App, createApp, type Started } from '../app.ts';
import type { Config } from '../core/config.ts';
import { fail } from '../core/errors.ts';
import { type ExpressHost, expressKind } from '../hosts/express.ts';
import { type FastifyHost, fastifyKind } from '../hosts/fastify.ts';
import type { HostKind, MountedHost, Next } from '../hosts/host.ts';
import { findHiddenRoutes, mountOn } from '../hosts/kinds.ts';
import { type KoaHost, koaKind } from '../hosts/koa.ts';
import { type NestHost, nestKind } from '../hosts/nest.ts';
import type { Store } from '../store/store.ts';
import { createAgentConfig, createAgentLog, createEngineParts, type StandaloneAt } from './agent-config.ts';
import { AgentEngine, type Running } from './agent-engine.ts';
import { refuse } from './doors.ts';
import { findSchemaDifferences, type SchemaFileOptions, writeSchema, writeTypings } from './files.ts';
import {
  type AgentOptions,
  type CheckedOptions,
  checkAgentOptions,
  checkMcpOptions,
  checkTypingsOptions,
  type McpOptions,
} from './options.ts';
import { openPlatform, tellSchema } from './platform.ts';
import { type Route, routeBeforeStart } from './route.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** What `start` gives. */
export interface AgentStarted {
  /** Stays the same across restarts, and answers with what was built last. */
  readonly engine: Engine;
  /** Null when nothing was mounted. `mcpUrl` is '' without `mountAiMcpServer`. */
  readonly server: Pick<Started, 'address' | 'mcpUrl' | 'apiUrl' | 'consoleUrl' | 'metricsUrl'> | null;
}

type State = 'new' | 'starting' | 'started' | 'stopping';

/** An agent in a host application, made by `createAgent`: say what is served, mount, start. */
export class Agent<S extends object = AnySchema> extends Blueprint<S> {
  readonly #options: CheckedOptions;
  #state: State = 'new';
  #mcp: McpOptions | undefined;
  readonly #hosts = new Map<unknown, MountedHost>();
  #isHandlerTaken = false;
  #away: Route | undefined;
  #standalone: StandaloneAt | undefined;
  #app: App | undefined;
  /** Undefined while there is no server. */
  #platform: Store | undefined;
  #address: string | undefined;
  #restarting: Promise<unknown> = Promise.resolve();
  readonly #engine = new AgentEngine({
    build: (parts, abandon) => this.openEngine(parts, abandon),
    files: () => this.#fileOptions(),
  });

  /** Made by `createAgent`. */
  constructor(options: CheckedOptions) {
    super();
    this.#options = options;
  }

  /** Serves MCP from `start` on, beside the HTTP API, where the agent is mounted. */
  mountAiMcpServer(options: McpOptions = {}): this {
    const at = this.check(callSite(this.mountAiMcpServer));
    if (this.#mcp) fail('CONFIGURATION', { problem: `mountAiMcpServer was called before. (${at})` });
    this.#mcp = { ...checkMcpOptions(options, at) };
    this.#away = undefined;
    return this;
  }

  /** `port`: MCP_SERVER_PORT, else 3931, when absent; 0 takes a free one. `host`: SERVICE_HOST, else 127.0.0.1. */
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
   * Serves through an Express application, 4 or 5, before everything else that it has or will have: our paths are ours, and
   * all else goes on to the application. SERVICE_PUBLIC_URL must say where clients reach it. For another place among its
   * middleware, use `requestHandler`.
   */
  mountOnExpress(app: ExpressHost): this {
    return this.#mountOn(expressKind, app, callSite(this.mountOnExpress));
  }

  /** The same in Fastify, 4 or 5; before it is ready, since it takes nothing after that. */
  mountOnFastify(app: FastifyHost): this {
    return this.#mountOn(fastifyKind, app, callSite(this.mountOnFastify));
  }

  /** The same in Koa, 2 or 3. */
  mountOnKoa(app: KoaHost): this {
    return this.#mountOn(koaKind, app, callSite(this.mountOnKoa));
  }

  /** The same in NestJS, on Express or on Fastify. */
  mountOnNestJs(app: NestHost): this {
    return this.#mountOn(nestKind, app, callSite(this.mountOnNestJs));
  }

  /**
   * For any other host, or another place in one: a Node handler that answers our paths, with 503 while the agent is not
   * started, and calls `next` for the rest. A body that was read and parsed before it is taken as it is.
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

  /** Where the standalone server listens, once it does; undefined otherwise. */
  get standaloneServerPort(): number | undefined {
    return this.#address === undefined ? undefined : Number(new URL(this.#address).port);
  }

  /**
   * Opens the data sources, builds the engine, writes the schema file and typings (in production: reads the schema file),
   * and serves what was mounted. CONFIGURATION or SOURCE_UNAVAILABLE, with everything closed again, when it cannot.
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
      await this.#introduce(running);
      const { live } = running;
      this.#state = 'started';
      return { engine: live.engine, server };
    } catch (error) {
      this.#state = 'new';
      this.#engine.forget();
      this.reopenBlueprint();
      throw error;
    }
  }

  /** Ends calls under way, within the time that SERVICE_SHUTDOWN_SECONDS gives them, and closes every connection. */
  async stop(): Promise<void> {
    if (this.#state === 'starting')
      fail('CONFIGURATION', { problem: `The agent is being started: stop it after that. (${callSite(this.stop)})` });
    const [app, running] = [this.#app, this.#engine.running];
    this.#state = 'stopping';
    await this.#restarting;
    this.#app = this.#address = this.#platform = undefined;
    this.#engine.forget();
    try {
      // Closes the engine as well.
      if (app) await app.stop('stop');
      else await running?.live.engine.close();
    } finally {
      await this.#engine.closeKept();
      this.#state = 'new';
    }
  }

  /**
   * Builds the engine anew, with the user's callbacks run again over what the sources hold now. Calls under way end on
   * the old one. When it fails the old one stays, and the promise is rejected. One restart follows the other.
   */
  restart(): Promise<void> {
    const next = this.#restarting.then(() => this.#rebuild(callSite(this.restart)));
    this.#restarting = next.catch(() => undefined);
    return next;
  }

  /**
   * Writes the schema to `schemaPath`, and typings to `typingsPath` where it is set, in production too. Nothing is started
   * and nothing sent. The connections to the data sources stay open, until `stop`. (In the agent package whose interface
   * this is, since version 1.83.0.)
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
   * What the schema file says otherwise than what is served, a line each; none when they agree. For CI: nothing is started,
   * written or sent, and every connection is closed. CONFIGURATION when there is no such file, or it is broken.
   */
  async checkSchema(): Promise<readonly string[]> {
    const opened = await this.openEngine(this.#createParts());
    try {
      return findSchemaDifferences(opened, this.#fileOptions());
    } finally {
      await closeSources(opened.sources);
    }
  }

  /** Writes typings only: of the engine that runs, or of one that is built for it. */
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

  /** Ours are not the host's while there is no server of ours. */
  #whileAway(req: IncomingMessage, res: ServerResponse, next: Next): void {
    try {
      this.#away ??= routeBeforeStart({ ...this.#createConfig(), servesMcp: this.#mcp !== undefined });
    } catch {
      // Which paths are ours cannot be known of such settings; the start says what is wrong with them.
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

  /** At a start: nothing is left running when the platform cannot be told. */
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

  /** The platform keeps the schema of what is served; where there is no server, it is asked for that alone. */
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
    return { ...this.#options, version };
  }
}

/**
 * `S` is the interface of generated typings, where there are some. CONFIGURATION, with the user's line, for options that are
 * missing, unknown or not as they must be.
 */
export function createAgent<S extends object = AnySchema>(options: AgentOptions): Agent<S> {
  return new Agent<S>(checkAgentOptions(options, callSite(createAgent)));
}
