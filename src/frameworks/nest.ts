// Mounts the agent on NestJS. NestJS runs on Express or Fastify, and the agent is mounted on that platform.
import { expressKind } from './express.ts';
import { fastifyKind } from './fastify.ts';
import { type HostKind, HostProblem, hasFunctions } from './host.ts';

/** An application that `NestFactory.create()` returns. */
export interface NestHost {
  getHttpAdapter(): { getType(): string; getInstance(): unknown };
}

const platforms: Readonly<Record<string, HostKind>> = { express: expressKind, fastify: fastifyKind };

export const nestKind: HostKind = {
  call: 'mountOnNestJs',
  takes: 'the application from NestFactory.create()',
  is: (host) => hasFunctions(host, 'getHttpAdapter'),
  mount(app: NestHost, handle) {
    const adapter = app.getHttpAdapter();
    const type = adapter.getType();
    const platform = Object.hasOwn(platforms, type) ? platforms[type] : undefined;
    const instance: unknown = adapter.getInstance();
    if (!platform?.is(instance))
      throw new HostProblem(`its platform is '${type}': use @nestjs/platform-express or @nestjs/platform-fastify`);
    return platform.mount(instance as never, handle);
  },
};
