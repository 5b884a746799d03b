// The supported host frameworks, and the error for a host passed to the wrong method.
import { expressKind } from './express.ts';
import { fastifyKind } from './fastify.ts';
import { type HostKind, HostProblem, type MountedHost, type NodeHandler } from './host.ts';
import { koaKind } from './koa.ts';
import { nestKind } from './nest.ts';

const kinds: readonly HostKind[] = [expressKind, fastifyKind, koaKind, nestKind];

/** `tell` receives the problem and throws. */
export function mountOn(
  kind: HostKind,
  host: unknown,
  handle: NodeHandler,
  refuse: (problem: string) => never,
): MountedHost {
  if (!kind.is(host)) {
    const matching = kinds.find((one) => one.is(host));
    return refuse(`pass ${kind.takes}${matching ? `; for this application use ${matching.call}(app)` : ''}.`);
  }
  try {
    return kind.mount(host as never, handle);
  } catch (error) {
    if (error instanceof HostProblem) return refuse(`${error.message}.`);
    throw error;
  }
}

/** Paths of the host's own routes that the agent answers instead. */
export function findHiddenRoutes(hosts: Iterable<MountedHost>, isOurs: (path: string) => boolean): string[] {
  return [...new Set([...hosts].flatMap((host) => host.routes()))].filter(isOurs);
}
