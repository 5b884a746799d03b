// The console is a seventh of the code and only serves people. It is loaded by the first request for one of its pages,
// or shortly after the start.
import type { Console, ConsoleOptions } from '../console/endpoint.ts';
import { AppError } from '../core/errors.ts';
import { randomId } from '../core/secret.ts';
import { sendRefusal } from './http-server.ts';

export interface LazyConsole extends Console {
  load(): Promise<unknown>;
}

export function openConsole(options: ConsoleOptions): LazyConsole {
  const { paths, observe } = options;
  let loaded: Console | undefined;
  let loading: Promise<Console> | undefined;
  const load = (): Promise<Console> => {
    loading ??= import('../console/endpoint.ts').then(
      ({ createConsole }) => {
        loaded = createConsole(options);
        return loaded;
      },
      (error: unknown) => {
        loading = undefined;
        throw error;
      },
    );
    return loading;
  };
  return {
    load,
    handle(req, res) {
      if (loaded) return loaded.handle(req, res);
      if (paths.locate((req.url ?? '/').split('?', 1)[0]!) === undefined) return false;
      load().then(
        (console) => console.handle(req, res),
        (cause: unknown) => {
          const requestId = randomId();
          observe({ type: 'failure', where: 'console', requestId, cause });
          sendRefusal(res, new AppError('INTERNAL', { requestId }, cause));
        },
      );
      return true;
    },
  };
}
