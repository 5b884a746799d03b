// What a route of the public API is: what it needs, takes and answers. The same schemas validate, type the handlers and
// make the OpenAPI document, so that none can say something else than another.
import type { z } from 'zod';
import type { Engine } from '../agent/engine.ts';
import type { Clock } from '../core/clock.ts';
import type { Observe } from '../core/observe.ts';
import type { Store } from '../store/store.ts';
import type { WorkflowRoom } from '../workflow/room.ts';
import type { Triggers } from '../workflow/trigger.ts';
import type { Holder } from './gate.ts';
import type { Parameters, Read } from './parameters.ts';

export interface RouteParts {
  readonly store: Store;
  readonly engine: Engine;
  readonly workflows: WorkflowRoom;
  readonly triggers: Triggers;
  readonly clock: Pick<Clock, 'now'>;
  readonly observe: Observe;
}

/** One request with a token that counts, checked against the route. */
export interface Call<P extends Parameters = Parameters, B = unknown> extends Holder {
  /** What stands in the path for `{name}`. Names of a project and an environment are those that this process serves. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: Read<P>;
  readonly body: B;
}

export interface Answer {
  readonly status: number;
  /** Absent: no body. */
  readonly body?: object;
  /** In place of `body`: sent as it comes. The first part is waited for before the status is sent, so that it can fail. */
  readonly stream?: { readonly type: string; readonly filename: string; readonly parts: AsyncIterable<string> };
}

export interface RouteOf<P extends Parameters, B> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** `{name}` stands for one segment. `{projectName}` and `{environmentName}` must be what is served, else 404. */
  readonly path: string;
  /** Of the operation, for clients that are made of the document. */
  readonly id: string;
  readonly summary: string;
  /** Sentences, where the summary does not say enough. */
  readonly about?: string;
  /** The group of the document; by default that of its path (openapi-texts.ts). */
  readonly tag?: { readonly name: string; readonly description: string };
  /** Statuses of errors beside those that follow from the rest of the row. */
  readonly also?: readonly (404 | 409)[];
  /** One of them is needed, or `all`; null: any token will do. */
  readonly scopes: readonly string[] | null;
  /** Spec public-http-api 5, 2: the user has the Admin role, at the call. */
  readonly admin: boolean;
  /** Absent: it takes none. */
  readonly query?: P;
  /** Of a JSON body, which must then be there. Unknown fields are 400: make it strict. */
  readonly body?: z.ZodType<B>;
  readonly status: number;
  /** Of the body of that status; absent when there is none. */
  readonly answers?: z.ZodType;
  /** Media types of a streamed answer. */
  readonly streams?: readonly string[];
  readonly handle: (call: Call<P, B>, parts: RouteParts) => Promise<Answer>;
}

export type Route = RouteOf<Parameters, unknown>;

/** A row of the table, whose handler knows what it is given. */
export function defineRoute<const P extends Parameters = Record<never, never>, B = undefined>(
  route: RouteOf<P, B>,
): Route {
  // What the handler is given was read by the very schemas of its types.
  return route as unknown as Route;
}
