// The options of a server that are not settings.
import type { Clock } from '../core/clock.ts';
import type { Observe } from '../core/observe.ts';
import type { McpEndpointParts } from '../mcp/endpoint.ts';
import type { documentFetch, FetchDocument } from '../oauth/clients/documents.ts';
import type { HostSignInOptions } from '../oauth/login/host-sign-in.ts';
import type { DataOptions } from './data.ts';

/** The options of a server in addition to the configuration. */
export interface AppOptions extends DataOptions {
  /** Version of this package, reported to clients. */
  readonly version: string;
  /** The time and the timers. Default: those of the system. */
  readonly clock?: Clock;
  /** A listener in addition to the log. Default: no listener. */
  readonly observe?: Observe;
  /** Replaces the log on standard error. Default: JSON lines at the level of the configuration. */
  readonly log?: Observe;
  /** Signs the session tokens of the agent's HTTP API. Default: a key of the installation. */
  readonly authSecret?: string;
  /** Extensions of the MCP endpoint. Default: no extensions. */
  readonly mcp?: Pick<McpEndpointParts, 'extension' | 'legacySessions' | 'serving'>;
  /** If false, neither /mcp nor the authorization server exists, and their paths are not claimed. Default true. */
  readonly servesMcp?: boolean;
  /** False if requests only come from a host application, through `handle`. Default true. */
  readonly listens?: boolean;
  /** The sign-in of the host application. Default: users sign in at Portico. */
  readonly hostSignIn?: HostSignInOptions | undefined;
  /** For tests only: fetches client metadata documents. */
  readonly [documentFetch]?: FetchDocument;
}
