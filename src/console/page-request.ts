// Input and output types of the console's page handlers.
import type { IncomingMessage } from 'node:http';
import type { FormFile } from '../agent/actions/definitions.ts';
import type { Engine } from '../agent/engine.ts';
import type { Access } from '../core/caller.ts';
import type { StopSignal } from '../core/clock/stop.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import type { Observe } from '../core/observe.ts';
import type { EnvironmentInfo, Page } from '../http/page.ts';
import type { ApprovalExecution } from '../mcp/approvals/execution.ts';
import type { Playground } from '../mcp/playground.ts';
import type { Mailer } from '../notifications/mail.ts';
import type { LoginMethods } from '../oauth/login/login-methods.ts';
import type { SignIn } from '../oauth/login/sign-in.ts';
import type { Approval } from '../store/approvals/types.ts';
import type { Store } from '../store/store.ts';
import type { AutomaticStarts } from '../workflows/automatic/rules.ts';
import type { RemoteServers } from '../workflows/remote-mcp/remote-servers.ts';
import type { Triggers } from '../workflows/triggers/trigger.ts';
import type { WorkflowService } from '../workflows/workflows.ts';
import type { Reviewer } from './pages/approvals/review.ts';
import type { Inbox, WaitingCount } from './pages/inbox/waiting.ts';
import type { ConsolePaths } from './paths.ts';
import type { Sessions, Visitor } from './session.ts';

/** Dependencies of the pages. One instance serves the whole console. */
export interface Parts {
  readonly store: Store;
  readonly engine: Engine;
  readonly workflows: WorkflowService;
  readonly triggers: Triggers;
  readonly automatic: AutomaticStarts;
  /** Configuration of this process. */
  readonly config: Config;
  readonly sessions: Sessions;
  readonly reviewer: Reviewer;
  /** Deletes the uploaded files of a denied call. */
  readonly dropUploads: (denied: Approval) => Promise<void>;
  readonly signIn: SignIn;
  readonly loginMethods: LoginMethods;
  /** Whether the page, such as `/notes`, has a route. */
  readonly hasPage: (page: string) => boolean;
  /** What waits for a user. */
  readonly inbox: Inbox;
  /** Return page of a sign-in: the page with its query if it belongs to the console, else the start page. */
  readonly readReturn: (page: string) => string;
  /** Null if no mail server is configured. */
  readonly mailer: Mailer | null;
  readonly remotes: RemoteServers;
  readonly paths: ConsolePaths;
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly observe: Observe;
  /** Address of the MCP endpoint; null when the server has no such endpoint. */
  readonly mcpUrl: string | null;
  /** Base URL of the agent's HTTP API, such as `https://data.example.com/service`. */
  readonly agentUrl: string;
  /** Base URL of the public API, such as `https://data.example.com/v1`. */
  readonly apiUrl: string;
  /** Null when the server serves no MCP tools. */
  readonly playground: Playground | null;
  /** Null when assistants execute approved calls themselves. */
  readonly execution: ApprovalExecution | null;
  /** Reads the tables of the served databases again. Null when they are read only at the start. */
  readonly reloadTables: (() => Promise<void>) | null;
}

/** One request, signed in or not. */
export interface PageRequest {
  /** The raw request. The host application may need it to identify the user. */
  readonly req: IncomingMessage;
  readonly visitor: Visitor;
  /** The `:id` of a page such as `/approvals/:id`; '' for other pages. */
  readonly id: string;
  /** Values of the page's `:name` segments. */
  readonly params: Readonly<Record<string, string>>;
  /** Return page of the sign-in, validated; '' when absent. */
  readonly to: string;
  /** Query of the URL. */
  readonly query: URLSearchParams;
  /** Fields of a POST. Its origin and CSRF token are already checked. */
  readonly form: URLSearchParams;
  /** Files of a POST by field name, on pages that accept files. Fields without a file are absent. */
  readonly files: ReadonlyMap<string, readonly FormFile[]>;
  /** The form exceeded this many bytes, and its body was skipped. */
  readonly overflow?: number;
  /** CSRF token for every form of the page. */
  readonly csrf: string;
  readonly place: EnvironmentInfo;
  /** IP address of the client, with trusted proxies taken into account. */
  readonly address: string;
  /** User-Agent header. */
  readonly browser: string;
  /** Aborts when the browser disconnects before the response is complete. */
  readonly signal: StopSignal;
}

/** One request of a signed-in user, with the user's current rights. */
export interface SignedInRequest extends PageRequest {
  readonly access: Access;
  /** Number of approvals and questions that wait for the user, for the navigation. */
  readonly waiting: WaitingCount;
}

export type Answer = PageAnswer | RedirectAnswer | ExternalRedirectAnswer | StreamAnswer;

export interface PageAnswer {
  readonly page: Page;
  /** Default 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cookies?: readonly string[];
  /** Runs when the page is sent, so the browser cannot notice how long it takes. It handles its errors. */
  readonly afterwards?: () => void;
}

export interface RedirectAnswer {
  /** Page to redirect to, such as `/approvals`, optionally with a query; '' is the start page. */
  readonly to: string;
  readonly cookies?: readonly string[];
}

/** A file download. The first part is awaited before the headers go out, so a failure can still change the status. */
export interface StreamAnswer {
  readonly stream: {
    readonly type: string;
    readonly filename: string;
    readonly parts: AsyncIterable<string | Uint8Array>;
  };
}

/** Redirect to a front end or OpenID provider that the operator configured. No other site is allowed. */
interface ExternalRedirectAnswer {
  readonly leaveTo: string;
}
