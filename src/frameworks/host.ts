// Common types of the host frameworks. Hosts are recognized by their methods: the user installs the framework, in any
// version. No framework is imported, not even for its types.
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Passes a request on to the next handler of the host application. */
export type Next = (error?: unknown) => void;

/** Answers the agent's requests. For all others it calls `next` once, synchronously. */
export type NodeHandler = (req: IncomingMessage, res: ServerResponse, next: Next) => void;

export interface MountedHost {
  /** Paths of the host's own routes that are known at this moment. */
  routes(): readonly string[];
}

export interface HostKind {
  /** Name of the agent's method that mounts on this host. */
  readonly call: string;
  /** The argument that the method expects, for its error message. */
  readonly takes: string;
  is(host: unknown): boolean;
  /** `host` must satisfy `is`. Throws HostProblem if requests could not reach the agent. */
  mount(host: never, handle: NodeHandler): MountedHost;
}

/** The reason why the agent cannot be mounted, with a remedy. */
export class HostProblem extends Error {}

export const hasFunctions = (value: unknown, ...names: readonly string[]): boolean =>
  value != null && names.every((name) => typeof (value as Readonly<Record<string, unknown>>)[name] === 'function');
