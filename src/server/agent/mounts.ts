// Where the agent of an application serves: in applications of frameworks, through its request handler, and on a server
// of its own.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { fail } from '../../core/errors.ts';
import type { HostKind, MountedHost, Next } from '../../frameworks/host.ts';
import { findHiddenRoutes, mountOn } from '../../frameworks/kinds.ts';
import type { App } from '../create-server.ts';
import { refuse } from '../http-server.ts';
import type { Route } from '../route.ts';
import type { StandaloneAt } from './config.ts';

interface MountParts {
  /** Undefined while no server runs. */
  readonly app: () => App | undefined;
  /** Throws for invalid settings. */
  readonly routeBeforeStart: () => Route;
}

export class Mounts {
  readonly #parts: MountParts;
  readonly #hosts = new Map<unknown, MountedHost>();
  #isHandlerTaken = false;
  #server: StandaloneAt | undefined;
  #routeBeforeStart: Route | undefined;

  constructor(parts: MountParts) {
    this.#parts = parts;
  }

  /** `at`: the line of the user's code, for errors. */
  addHost(kind: HostKind, host: unknown, at: string): void {
    const refuseMount = (problem: string) => fail('CONFIGURATION', { problem: `${kind.call}: ${problem} (${at})` });
    if (this.#hosts.has(host)) refuseMount('the agent is already mounted on this application.');
    this.#hosts.set(host, mountOn(kind, host, this.#handle, refuseMount));
  }

  addServer({ port, host }: { [K in keyof StandaloneAt]: StandaloneAt[K] | undefined }, at: string): void {
    if (this.#server)
      fail('CONFIGURATION', {
        problem: `mountOnStandaloneServer was already called: an agent has only one server. (${at})`,
      });
    if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535))
      fail('CONFIGURATION', { problem: `mountOnStandaloneServer: the port must be a number from 0 to 65535. (${at})` });
    if (host !== undefined && (typeof host !== 'string' || host === ''))
      fail('CONFIGURATION', { problem: `mountOnStandaloneServer: the host must be a name or an address. (${at})` });
    this.#server = { ...(port !== undefined && { port }), ...(host !== undefined && { host }) };
  }

  takeHandler(): (req: IncomingMessage, res: ServerResponse, next?: Next) => void {
    this.#isHandlerTaken = true;
    return this.#handle;
  }

  get server(): StandaloneAt | undefined {
    return this.#server;
  }

  get isInHost(): boolean {
    return this.#hosts.size > 0 || this.#isHandlerTaken;
  }

  get isMounted(): boolean {
    return this.#server !== undefined || this.isInHost;
  }

  /** The routes of host applications that the agent now handles. */
  findHiddenRoutes(claims: App['claims']): readonly string[] {
    return findHiddenRoutes(this.#hosts.values(), claims);
  }

  /** For a change of the settings that define which paths belong to the agent. */
  forgetRoute(): void {
    this.#routeBeforeStart = undefined;
  }

  readonly #handle = (req: IncomingMessage, res: ServerResponse, next?: Next): void => {
    const continueRequest = next ?? (() => refuse(res, 'NOT_FOUND', { path: req.url ?? '/' }));
    const app = this.#parts.app();
    if (app) app.handle(req, res, continueRequest);
    else this.#handleBeforeStart(req, res, continueRequest);
  };

  /** While no server runs, the agent still claims its own paths, so the host does not answer them. */
  #handleBeforeStart(req: IncomingMessage, res: ServerResponse, next: Next): void {
    try {
      this.#routeBeforeStart ??= this.#parts.routeBeforeStart();
    } catch {
      // Invalid settings do not define which paths belong to the agent. `start` reports the problem.
      next();
      return;
    }
    this.#routeBeforeStart(req, res, next);
  }
}
