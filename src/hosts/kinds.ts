// The applications that we can be mounted in, and what is said of one that was given to the wrong call.
import { expressKind } from './express.ts';
import { fastifyKind } from './fastify.ts';
import { type HostKind, HostProblem, type MountedHost, type NodeHandler } from './host.ts';
import { koaKind } from './koa.ts';
import { nestKind } from './nest.ts';

const kinds: readonly HostKind[] = [expressKind, fastifyKind, koaKind, nestKind];

/** `tell` is given what is wrong, and throws. */
export function mountOn(
  kind: HostKind,
  host: unknown,
  handle: NodeHandler,
  tell: (problem: string) => never,
): MountedHost {
  if (!kind.is(host)) {
    const fitting = kinds.find((one) => one.is(host));
    return tell(`give it ${kind.takes}${fitting ? `; for this one there is ${fitting.call}(app)` : ''}.`);
  }
  try {
    return kind.mount(host as never, handle);
  } catch (error) {
    if (error instanceof HostProblem) return tell(`${error.message}.`);
    throw error;
  }
}

/** The paths of the host's own routes that `isOurs` takes from it. */
export function findHiddenRoutes(hosts: Iterable<MountedHost>, isOurs: (path: string) => boolean): string[] {
  return [...new Set([...hosts].flatMap((host) => host.routes()))].filter(isOurs);
}
