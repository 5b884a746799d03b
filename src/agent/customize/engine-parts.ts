// What an engine is built from, besides customizations, and how it is built again.
import type { Clock } from '../../core/clock.ts';
import type { Observe } from '../../core/observe.ts';
import type { EngineLimits } from '../requests.ts';
import type { Source } from '../sources/source.ts';
import type { MaybePromise } from './context.ts';

/** Parameters of a data source factory. */
export interface SourceTools {
  /** Reports events to the log, traces and metrics. */
  readonly observe: Observe;
  /** The time and the timers of the process. */
  readonly clock: Clock;
}

/**
 * Called by every start and restart. A factory may return the same source each time; the agent closes it when it stops.
 */
export type DataSourceFactory = (tools: SourceTools) => MaybePromise<Source>;

/** What `buildEngine` needs besides the data sources. */
export interface EngineParts extends SourceTools {
  /** The limits of reads and of statements. */
  readonly limits: EngineLimits;
  /** Action URLs without the position of the action; default false (behaviour 2.1). */
  readonly useUnsafeActionEndpoint?: boolean;
  /** Collection names that are taken by URLs of the HTTP API; empty when absent. */
  readonly reservedNames?: ReadonlySet<string>;
  /**
   * How often the tables are compared with those that are served, in seconds; 0 is never. If set, `engine.catalogue` can
   * also read them again on request. Default: the engine is built once.
   */
  readonly schemaSeconds?: number;
  /** The database comes from a setting, not from the user's code. This changes only the error message. */
  readonly isOfSettings?: boolean;
  /** Checks that a text is the e-mail address of a user. When absent, any text passes. */
  readonly isUser?: (email: string) => Promise<boolean>;
}

/** The tables behind an engine, which can be read again while it is in use. */
export interface EngineCatalogue {
  /**
   * Rebuilds the engine over the current tables. Running calls finish on the old one. On failure the old one stays in
   * use and the promise rejects.
   *
   * @example
   * await engine.catalogue?.reload();
   */
  reload(): Promise<void>;
  /**
   * Calls `listener` after each rebuild, whatever caused it. Returns a function that ends this.
   *
   * @example
   * const end = engine.catalogue?.onReload(() => console.log('The tables were read again'));
   */
  onReload(listener: () => void): () => void;
}
