// A page of the console: its access rule and its GET and POST handlers.
import type { Answer, PageRequest, Parts, SignedInRequest } from './page-request.ts';

type Handler<V> = (request: V, parts: Parts) => Promise<Answer>;

interface Handlers<V> {
  /** `:id` matches a segment that is an id, such as `12` or `q3_X-w`. Any other `:name` matches one decoded segment. */
  readonly page: string;
  readonly get?: Handler<V>;
  readonly post?: Handler<V>;
  /** Maximum form size in bytes; default 56 KiB. */
  readonly bodyBytes?: number;
}

interface OpenRoute extends Handlers<PageRequest> {
  readonly open: true;
  /** Returns a JSON document for the `:id` instead of a page; undefined means 404. */
  readonly publish?: (id: string, parts: Parts) => object | undefined;
  readonly takesFiles?: never;
}

export interface MemberRoute extends Handlers<SignedInRequest> {
  readonly open: false;
  /** For permission level `admin` only; other users get 404. */
  readonly admin?: true;
  /** The form may hold files up to the configured limit. A larger form renders the GET page with `overflow` set. */
  readonly takesFiles?: true;
  /** The answer has no navigation: a fragment or a file. */
  readonly frameless?: true;
}

export type Route = OpenRoute | MemberRoute;
