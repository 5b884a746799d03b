// The types of the route table of the agent's HTTP API. Each route has a method, a path and an access rule. `open`
// routes need no session. `session` routes manage the session. Data routes access records as the user of the session or
// of the application token. A data route parses its request first, so the activity log knows the subject before the
// route runs.

import type { IncomingMessage } from 'node:http';
import type { Engine } from '../agent/engine.ts';
import type { CallOptions, WriteAnswer } from '../agent/requests.ts';
import type { WriteEffect, Written } from '../agent/write/effects.ts';
import type { Access } from '../core/caller.ts';
import type { StopSignal } from '../core/clock/stop.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import type { SignedIn } from '../oauth/tokens/session-gate.ts';
import type { ActivityEntry } from '../store/audit/activity-types.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One request under the prefix. */
export interface RouteRequest {
  readonly req: IncomingMessage;
  /** Decoded values of the `:name` segments. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The client's IP address, behind trusted proxies. */
  readonly address: string;
  /** Aborts if the client disconnects before the response ends. */
  readonly disconnected: StopSignal;
}

export interface Answer {
  readonly status: number;
  /** Sent as JSON. Absent: no body. */
  readonly body?: object | string | number | boolean | null;
  /** Alternative to `body`: text that is already JSON. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Alternative to `body`: a stream. The first part is read before the status is sent, so it can still fail. */
  readonly stream?: { readonly type: string; readonly parts: AsyncIterable<string | Uint8Array> };
  /** The error code for the activity log, if the response describes an error itself. */
  readonly errorCode?: ErrorCode;
  /** For a write: ids that were not in the request, for the activity log. */
  readonly recordIds?: readonly string[];
}

export interface OpenRoute {
  readonly method: Method;
  readonly path: string;
  open(request: RouteRequest): Answer | Promise<Answer>;
}

export interface SessionRoute {
  readonly method: Method;
  readonly path: string;
  session(request: RouteRequest, signedIn: SignedIn): Answer | Promise<Answer>;
}

/** The input of a data route's `parse`. */
export interface DataRequest extends Pick<RouteRequest, 'params' | 'query'> {
  readonly headers: IncomingMessage['headers'];
  /** Parsed JSON, or undefined without a body. */
  readonly body: unknown;
}

/** Returns the options for the engine. */
export const toCallOptions = ({ signal, written }: DataCall): CallOptions => ({ signal, written });

interface Meta {
  readonly alsoWritten?: readonly WriteEffect[];
  readonly unseen?: readonly string[];
}

/** Returns `meta` for a response: records written beyond those of the call, and records that cannot be shown. */
export function toMeta({ effects, unseen = [] }: Pick<WriteAnswer, 'effects'> & Partial<WriteAnswer>): {
  readonly meta?: Meta;
} {
  const alsoWritten = effects.filter(({ cause }) => cause !== 'call');
  const meta = { ...(alsoWritten.length > 0 && { alsoWritten }), ...(unseen.length > 0 && { unseen }) };
  return alsoWritten.length + unseen.length > 0 ? { meta } : {};
}

/** Responds to a write that has no body except `meta`. */
export function respondDone(answer: WriteAnswer): Answer {
  const body = toMeta(answer);
  return body.meta ? { status: 200, body } : { status: 204 };
}

/** The context in which a data route runs. */
export interface DataCall {
  readonly access: Access;
  /** A program calls with an application token: nobody can answer a question. */
  readonly byProgram: boolean;
  /** Returns the current rights, for streamed responses. Throws UNAUTHENTICATED. */
  currentAccess(): Promise<Access>;
  readonly engine: Engine;
  readonly config: Config;
  readonly clock: Pick<Clock, 'now'>;
  /** Aborts if the client disconnects or the call times out. */
  readonly signal: StopSignal;
  /** The engine appends every record it writes. */
  readonly written: Written[];
  /** The URL path before the path of a route, such as `/service`. */
  readonly prefix: string;
  readonly observe: Observe;
}

export interface DataRoute<A = unknown> {
  readonly method: Method;
  /** Relative to the prefix. `:name` matches any segment. The most literal matching route wins. */
  readonly path: string;
  /** The name in the activity log. */
  readonly action: string;
  /** Whether the route can write. A write is logged before it runs. */
  readonly writes: boolean;
  /**
   * The OAuth scope that an application token needs; null if no token may call the route. Default: `records:write` if
   * the route can write, otherwise `records:read`.
   */
  readonly scope?: 'records:read' | 'records:write' | 'records:action' | null;
  /** Throws INVALID_ARGUMENT. Does not call the engine. */
  parse(request: DataRequest): A;
  /** Names and ids only, never values. */
  subject(args: A): Pick<ActivityEntry, 'collection' | 'recordIds'>;
  run(args: A, call: DataCall): Promise<Answer>;
}

// biome-ignore lint/suspicious/noExplicitAny: a row keeps its own arguments to itself.
export type AnyDataRoute = DataRoute<any>;

export type Route = OpenRoute | SessionRoute | AnyDataRoute;

/** Infers the type of the route's arguments. */
export const dataRoute = <A>(route: DataRoute<A>): DataRoute<A> => route;
