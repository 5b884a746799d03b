// What a page of the console is made with, and what it answers.
import type { IncomingMessage } from 'node:http';
import type { FormFile } from '../agent/actions/definitions.ts';
import type { Engine } from '../agent/engine.ts';
import type { Access } from '../core/caller.ts';
import type { StopSignal } from '../core/clock/stop.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import type { Observe } from '../core/observe.ts';
import type { Playground } from '../mcp/playground.ts';
import type { Page, Place } from '../oauth/page.ts';
import type { SignIn } from '../oauth/sign-in.ts';
import type { SignInWays } from '../oauth/sign-in-ways.ts';
import type { Store } from '../store/store.ts';
import type { RemoteRoom } from '../workflow/remote/room.ts';
import type { WorkflowRoom } from '../workflow/room.ts';
import type { Triggers } from '../workflow/trigger.ts';
import type { ConsolePaths } from './paths.ts';
import type { Reviewer } from './review.ts';
import type { Sessions, Visitor } from './session.ts';

/** What the pages are made of; one for the console. */
export interface Parts {
  readonly store: Store;
  readonly engine: Engine;
  readonly workflows: WorkflowRoom;
  readonly triggers: Triggers;
  /** What this process runs with. */
  readonly config: Config;
  readonly sessions: Sessions;
  readonly reviewer: Reviewer;
  readonly signIn: SignIn;
  readonly ways: SignInWays;
  /** Where a sign-in may lead: the page with its query, where it is one of ours, else the start page. */
  readonly readReturn: (page: string) => string;
  readonly remotes: RemoteRoom;
  readonly paths: ConsolePaths;
  readonly clock: Pick<Clock, 'now'>;
  readonly observe: Observe;
  /** What assistants are given; null where none are served. */
  readonly mcpUrl: string | null;
  /** Of the public API, such as `https://data.example.com/v1`. */
  readonly apiUrl: string;
  /** Null where no tools are served. */
  readonly playground: Playground | null;
}

/** One request, by anybody. */
export interface Visit {
  /** As it came; for the host application, which may be asked who signs in. */
  readonly req: IncomingMessage;
  readonly visitor: Visitor;
  /** `id` of a page such as `/approvals/:id`; '' where there is none. */
  readonly id: string;
  /** What stands in the place of each `:name` of the page. */
  readonly params: Readonly<Record<string, string>>;
  /** The page that a sign-in leads back to, checked to be one; '' where none was named. */
  readonly to: string;
  /** Of the address. */
  readonly query: URLSearchParams;
  /** Of a POST: checked to come from our own page and to be of this browser. */
  readonly form: URLSearchParams;
  /** Of a POST to a page that takes them, by the name of the field; nothing where nothing was chosen. */
  readonly files: ReadonlyMap<string, readonly FormFile[]>;
  /** The form was larger than this many bytes, and nothing of it was read. */
  readonly overflow?: number;
  /** For every form of the page. */
  readonly csrf: string;
  readonly place: Place;
  /** Of whoever asks, as the front read it. */
  readonly address: string;
  /** What the browser says that it is. */
  readonly browser: string;
  /** Aborted when the browser goes away before it is answered. */
  readonly signal: StopSignal;
}

/** One request of somebody who is signed in, with his rights of this moment. */
export interface MemberVisit extends Visit {
  readonly access: Access;
}

export type Answer = Shown | Sent | Left | Streamed;

export interface Shown {
  readonly page: Page;
  /** Default 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Sent {
  /** The page to go to, such as `/approvals`; '' is the start page. With a query where it has one. */
  readonly to: string;
  readonly cookies?: readonly string[];
}

/** A file; its first part is waited for before anything is sent, so that it can fail. */
export interface Streamed {
  readonly stream: {
    readonly type: string;
    readonly filename: string;
    readonly parts: AsyncIterable<string | Uint8Array>;
  };
}

/** To a front end or the OpenID provider that the operator named, and to no other site. */
export interface Left {
  readonly leaveTo: string;
}
