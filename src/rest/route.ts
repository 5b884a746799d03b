// The agent's HTTP API is a table: each route is a row that says its method, its path and who may come in. `open` is for
// everybody, `session` is about the session itself, and a data route works on records in the name of whoever is signed in:
// its request is parsed first, so that the activity log can be told what it is about before anything is done.
import type { IncomingMessage } from 'node:http';
import type { Engine } from '../agent/engine.ts';
import type { Access } from '../core/caller.ts';
import type { StopSignal } from '../core/clock/stop.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import type { SignedIn } from '../oauth/session-gate.ts';
import type { ActivityEntry } from '../store/activity-types.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One request under the prefix, by anybody. */
export interface Visit {
  readonly req: IncomingMessage;
  /** What the `:name` segments of the route's path are, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Of the client, behind the proxies that are trusted. */
  readonly address: string;
  /** Aborted when the client goes away before it has its answer. */
  readonly left: StopSignal;
}

export interface Answer {
  readonly status: number;
  /** Sent as JSON; absent: no body. */
  readonly body?: object | string | number | boolean | null;
  /** In place of `body`: JSON already. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of `body`: sent as it comes. The first part is waited for before the status is sent, so that it can fail. */
  readonly stream?: { readonly type: string; readonly parts: AsyncIterable<string | Uint8Array> };
  /** What the activity log is told of an answer that says itself what went wrong. */
  readonly refused?: ErrorCode;
  /** Of a write, those that were not known before, for the activity log. */
  readonly recordIds?: readonly string[];
}

export interface OpenRoute {
  readonly method: Method;
  readonly path: string;
  open(visit: Visit): Answer | Promise<Answer>;
}

export interface SessionRoute {
  readonly method: Method;
  readonly path: string;
  session(visit: Visit, signedIn: SignedIn): Answer | Promise<Answer>;
}

/** What a data route is parsed from. */
export interface DataRequest extends Pick<Visit, 'params' | 'query'> {
  readonly headers: IncomingMessage['headers'];
  /** As JSON; undefined where there is none. */
  readonly body: unknown;
}

/** What a data route works with. */
export interface DataCall {
  readonly access: Access;
  readonly engine: Engine;
  readonly config: Config;
  readonly clock: Pick<Clock, 'now'>;
  /** Aborted when the client goes away or the time of the call is up. */
  readonly signal: StopSignal;
  /** What stands before the path of a route in an address, such as `/service`. */
  readonly prefix: string;
  readonly observe: Observe;
}

export interface DataRoute<A = unknown> {
  readonly method: Method;
  /** Below the prefix; a segment `:name` stands for any one. The most literal route that fits is the one. */
  readonly path: string;
  /** As the activity log names it. */
  readonly action: string;
  /** Whether it may change something: then the log is told before it begins. */
  readonly writes: boolean;
  /** INVALID_ARGUMENT for what cannot be meant; asks nothing of the engine. */
  parse(request: DataRequest): A;
  /** Names and ids, never values. */
  subject(args: A): Pick<ActivityEntry, 'collection' | 'recordIds'>;
  run(args: A, call: DataCall): Promise<Answer>;
}

// biome-ignore lint/suspicious/noExplicitAny: a row keeps its own arguments to itself.
export type Route = OpenRoute | SessionRoute | DataRoute<any>;

/** Keeps the type of a row's own arguments between its functions. */
export const dataRoute = <A>(route: DataRoute<A>): DataRoute<A> => route;

export interface Found {
  /** Of the method; undefined where the path has others alone. */
  readonly route: Route | undefined;
  readonly params: Readonly<Record<string, string>>;
  /** All that the path fits, of any method. */
  readonly routes: readonly Route[];
}

export interface RouteTable {
  /** Below the prefix; undefined where no route fits the path. */
  find(path: string, method: string): Found | undefined;
}

interface Entry {
  readonly segments: readonly Segment[];
  readonly routes: Map<string, Route>;
}

/** A text as it is, or any text, before an ending. */
type Segment = string | { readonly name: string; readonly ending: string };

function readSegment(text: string): Segment {
  const [, name, ending = ''] = /^:(\w+)(\..+)?$/.exec(text) ?? [];
  return name === undefined ? text : { name, ending };
}

/** A path of more literal segments, the earlier the better, goes before one of fewer that has the method as well. */
export function createRouteTable(routes: readonly Route[]): RouteTable {
  const entries = new Map<string, Entry>();
  for (const route of routes) {
    const shape = route.path.replaceAll(/:\w+/g, ':');
    const entry = entries.get(shape) ?? { segments: route.path.split('/').map(readSegment), routes: new Map() };
    entry.routes.set(route.method, route);
    entries.set(shape, entry);
  }
  const rank = ({ segments }: Entry) =>
    segments.map((one) => (typeof one === 'string' ? 0 : one.ending !== '' ? 1 : 2)).join('');
  const byLength = new Map<number, Entry[]>();
  for (const entry of [...entries.values()].sort((a, b) => (rank(a) < rank(b) ? -1 : 1))) {
    const alike = byLength.get(entry.segments.length);
    if (alike) alike.push(entry);
    else byLength.set(entry.segments.length, [entry]);
  }
  return {
    find(path, method) {
      const given = path.split('/');
      const others: Route[] = [];
      let params: Found['params'] | undefined;
      for (const { segments, routes } of byLength.get(given.length) ?? []) {
        const fits = match(segments, given);
        if (!fits) continue;
        const route = routes.get(method);
        if (route) return { route, params: fits, routes: [route] };
        others.push(...routes.values());
        params ??= fits;
        // No collection has such a name.
        if (isReserved(given[1])) break;
      }
      return params && { route: undefined, params, routes: others };
    },
  };
}

const isReserved = (name = ''): boolean => name.startsWith('_') || name === 'authentication';

/**
 * Segments are divided before they are decoded, so that a `/` within a name stays within it (RFC 3986 section 2.2). An empty
 * one, and one that cannot be decoded, is no name.
 */
function match(segments: readonly Segment[], given: readonly string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {};
  for (let at = 0; at < segments.length; at++) {
    const segment = segments[at]!;
    const text = given[at]!;
    if (typeof segment === 'string') {
      if (segment !== text) return undefined;
      continue;
    }
    const { name, ending } = segment;
    if (!text.endsWith(ending)) return undefined;
    const value = decode(text.slice(0, text.length - ending.length));
    if (value === undefined || value === '') return undefined;
    params[name] = value;
  }
  return params;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
