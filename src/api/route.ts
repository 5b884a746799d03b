// The types of a public API route. The same schemas validate requests, type the handlers and generate the OpenAPI
// document, so all three agree.
import type { z } from 'zod';
import type { Engine } from '../agent/engine.ts';
import type { Clock } from '../core/clock.ts';
import type { Observe } from '../core/observe.ts';
import type { Store } from '../store/store.ts';
import type { Triggers } from '../workflows/triggers/trigger.ts';
import type { WorkflowService } from '../workflows/workflows.ts';
import type { TokenHolder } from './authentication.ts';
import type { Parameters, ParameterValues } from './parameters.ts';

export interface RouteParts {
  readonly store: Store;
  readonly engine: Engine;
  readonly workflows: WorkflowService;
  readonly triggers: Triggers;
  readonly clock: Pick<Clock, 'now'>;
  readonly observe: Observe;
}

/** A request with a valid token, checked against the route. */
export interface Call<P extends Parameters = Parameters, B = unknown> extends TokenHolder {
  /** Values of the `{name}` segments. The project and environment are those that this process serves. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: ParameterValues<P>;
  readonly body: B;
}

export interface Answer {
  readonly status: number;
  /** Absent: no body. */
  readonly body?: object;
  /** Alternative to `body`: a stream. The first part is read before the status is sent, so it can still fail. */
  readonly stream?: {
    readonly type: string;
    readonly filename: string;
    readonly parts: AsyncIterable<string>;
    readonly recheckAccess?: () => Promise<unknown>;
  };
}

interface RouteOf<P extends Parameters, B> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /**
   * `{name}` matches one segment. `{projectName}` and `{environmentName}` must match the served ones, otherwise 404.
   */
  readonly path: string;
  /** The operation id, for generated clients. */
  readonly id: string;
  readonly summary: string;
  /** Sentences for the document, if the summary is not enough. */
  readonly about?: string;
  /** The group in the document. Defaults to the group of the path (api/openapi/texts.ts). */
  readonly tag?: { readonly name: string; readonly description: string };
  /** Error statuses besides those that follow from the other properties. */
  readonly also?: readonly (404 | 409)[];
  /** The token needs one of these scopes or `all`. Null: any token. */
  readonly scopes: readonly string[] | null;
  /** Behaviour api 5, 2: the user must have the Admin role at the time of the call. */
  readonly admin: boolean;
  /** Absent: no query parameters. */
  readonly query?: P;
  /** The schema of a required JSON body. It must be strict: unknown fields return 400. */
  readonly body?: z.ZodType<B>;
  readonly status: number;
  /** The schema of the response body. Absent: no body. */
  readonly answers?: z.ZodType;
  /** Media types of a streamed response. */
  readonly streams?: readonly string[];
  readonly handle: (call: Call<P, B>, parts: RouteParts) => Promise<Answer>;
}

export type Route = RouteOf<Parameters, unknown>;

/** Infers the handler's types from the route. */
export function defineRoute<const P extends Parameters = Record<never, never>, B = undefined>(
  route: RouteOf<P, B>,
): Route {
  // The cast is safe: the handler's arguments are parsed with the schemas that define their types.
  return route as unknown as Route;
}
