// What is common to the applications that we can be mounted in. We know each by what it can do (it is the user's own
// package, of the user's own version): no framework is imported, not even for its types.
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Passes a request on to what comes after us in a host application. */
export type Next = (error?: unknown) => void;

/** Answers a request that is ours; for any other calls `next`, before it returns and once. */
export type NodeHandler = (req: IncomingMessage, res: ServerResponse, next: Next) => void;

export interface MountedHost {
  /** The paths of the host's own routes, as far as they can be known at this moment. */
  routes(): readonly string[];
}

export interface HostKind {
  /** The call of the agent that mounts on it. */
  readonly call: string;
  /** What that call takes, for the error of something else. */
  readonly takes: string;
  is(host: unknown): boolean;
  /** `host` is one that `is` takes. Throws a HostProblem where we could not be reached. */
  mount(host: never, handle: NodeHandler): MountedHost;
}

/** Why we cannot be mounted there, and what to do. */
export class HostProblem extends Error {}

export const hasFunctions = (value: unknown, ...names: readonly string[]): boolean =>
  value != null && names.every((name) => typeof (value as Readonly<Record<string, unknown>>)[name] === 'function');
