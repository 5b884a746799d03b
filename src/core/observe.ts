// Events are reported as typed observations. The log, traces and metrics (observe/) listen to them. An observation
// contains only names and ids, never argument values, tokens or passwords.
import { type Logger, pino } from 'pino';
import { listCodeFailures, unwrapCodeFailure } from './errors/code-failure.ts';

/** An event, as listeners receive it. It contains only names and ids, never values, tokens or passwords. */
export type Observation =
  | {
      readonly type: 'server.started';
      readonly address: string;
      readonly milliseconds: number;
      /** The names of the served databases, if the settings have several. */
      readonly databases?: readonly string[];
    }
  | { readonly type: 'server.stopping'; readonly reason: string }
  | { readonly type: 'server.stopped' }
  | { readonly type: 'warning'; readonly message: string; readonly cause?: unknown }
  | { readonly type: 'failure'; readonly where: string; readonly requestId: string; readonly cause: unknown }
  | {
      readonly type: 'http.answered';
      readonly method: string;
      readonly path: string;
      readonly status: number;
      readonly milliseconds: number;
    }
  /** Every `tool.began` is followed by a `tool.called`. */
  | { readonly type: 'tool.began'; readonly tool: string }
  | {
      readonly type: 'tool.called';
      readonly tool: string;
      readonly collection?: string;
      readonly userId: number;
      readonly clientId: string;
      readonly outcome: 'completed' | 'failed' | 'denied' | 'unknown';
      readonly code?: string;
      readonly milliseconds: number;
    }
  | {
      /** A call of the agent's HTTP API that reads or writes data. */
      readonly type: 'route.called';
      /** The name in the activity log, such as `list`. */
      readonly action: string;
      readonly collection?: string;
      readonly userId: number;
      readonly outcome: 'completed' | 'failed' | 'denied' | 'unknown';
      readonly code?: string;
      readonly milliseconds: number;
    }
  | {
      /** An MCP request that is not a tool call. */
      readonly type: 'mcp.answered';
      /** A method of the protocol, or `_OTHER`. */
      readonly method: string;
      /** HTTP status. */
      readonly status: number;
      readonly milliseconds: number;
    }
  | { readonly type: 'token.checked'; readonly outcome: 'accepted' | 'refused' }
  | {
      /** One statement on a database of the application. The duration includes the wait for a connection. */
      readonly type: 'statement.ran';
      readonly source: string;
      readonly system: 'sqlite' | 'mysql' | 'mariadb' | 'postgresql';
      readonly operation: 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE';
      readonly table: string;
      /** Contains no values, because they are bound. */
      readonly text: string;
      readonly outcome: 'completed' | 'failed';
      /** An error code of Portico or of the database. */
      readonly code?: string;
      readonly milliseconds: number;
    }
  | {
      /** The connection pool of one source, reported whenever a connection is requested, acquired or released. */
      readonly type: 'pool.changed';
      readonly source: string;
      readonly used: number;
      /** Calls that wait for a connection. */
      readonly waiting: number;
      readonly most: number;
    }
  /** The native driver of SQLite is not installed; this one replaces it. */
  | { readonly type: 'sqlite.chosen'; readonly driver: 'node:sqlite' }
  | { readonly type: 'store.migrated'; readonly migrations: readonly string[] }
  | { readonly type: 'store.swept'; readonly rows: number }
  | {
      readonly type: 'source.introspected';
      readonly source: string;
      readonly tables: number;
      readonly statements: number;
      readonly milliseconds: number;
    }
  | {
      /** The tables changed, and are served as they are now. `source`: the names of those that changed. */
      readonly type: 'source.reloaded';
      readonly source: string;
    }
  | {
      readonly type: 'query.planned';
      readonly collection: string;
      /** The plan as text, computed only when a listener calls it. */
      readonly plan: () => string;
    }
  | {
      /**
       * Tables and views without a primary key. `guessed`: those with a unique key instead, as `table (a, b)`.
       * `without`: those without any key.
       */
      readonly type: 'source.keys';
      readonly source: string;
      readonly guessed: readonly string[];
      readonly without: readonly string[];
    }
  | {
      readonly type: 'source.isolated';
      readonly source: string;
      readonly milliseconds: number;
      readonly outcome: 'completed' | 'cancelled' | 'failed';
    }
  | {
      /** Security events for operators: sign-ins, grants, refreshes, revocations, token reuse, refused clients. */
      readonly type: 'security';
      readonly event: string;
      readonly userId?: number;
      readonly clientId?: string;
      readonly address?: string;
      readonly detail?: string;
    };

export type ObservationType = Observation['type'];
/** Notifies the listeners (the log, metrics, spans) of an event. It never throws. */
export type Observe = (observation: Observation) => void;

/** The lowest level that is logged. */
export type LogLevel = 'Debug' | 'Info' | 'Warn' | 'Error';
export const logLevels = ['Debug', 'Info', 'Warn', 'Error'] as const;

/** Null: only for listeners that count, because these events would flood a log. */
const levelOf: Record<ObservationType, LogLevel | null> = {
  'server.started': 'Info',
  'server.stopping': 'Info',
  'server.stopped': 'Info',
  warning: 'Warn',
  failure: 'Error',
  'http.answered': 'Debug',
  'tool.began': null,
  'tool.called': 'Debug',
  'route.called': 'Debug',
  'mcp.answered': 'Debug',
  'token.checked': null,
  'statement.ran': 'Debug',
  'pool.changed': null,
  'sqlite.chosen': 'Info',
  'store.migrated': 'Info',
  'store.swept': 'Debug',
  'source.introspected': 'Debug',
  'source.reloaded': 'Info',
  'query.planned': 'Debug',
  'source.keys': 'Info',
  'source.isolated': 'Debug',
  security: 'Info',
};

export interface Observer {
  readonly observe: Observe;
  /** Adds a listener. It must not throw. */
  listen(listener: Observe): void;
}

export function createObserver(): Observer {
  const listeners: Observe[] = [];
  return {
    observe: (observation) => {
      for (const listener of listeners) listener(observation);
    },
    listen: (listener) => {
      listeners.push(listener);
    },
  };
}

/** A logger of the host application (behaviour 2.1). */
export type LogFunction = (level: LogLevel, message: string, error?: unknown) => void;

/** Passes observations as lines of text to a logger of the host application. Ignores errors of the logger. */
export function createFunctionListener(logger: LogFunction, level: LogLevel): Observe {
  const enabled = logLevels.slice(logLevels.indexOf(level));
  return (observation) => {
    const at = levelOf[observation.type];
    if (at === null || !enabled.includes(at)) return;
    try {
      const message = formatLine(observation);
      const cause = 'cause' in observation ? unwrapCodeFailure(observation.cause) : undefined;
      if (cause === undefined) logger(at, message);
      else logger(at, message, cause);
    } catch {
      // A failing logger must not break the observed operation.
    }
  };
}

/**
 * The message of a warning; otherwise the type and its details, such as `source.introspected: source=shop tables=3`.
 */
function formatLine(observation: Observation): string {
  if (observation.type === 'warning') return observation.message;
  const code = observation.type === 'failure' ? listCodeFailures(observation.cause) : [];
  const details = Object.entries(observation).filter(([name]) => name !== 'type' && name !== 'cause');
  const pairs = details.map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return [observation.type, pairs.join(' '), ...code].filter(Boolean).join(': ');
}

/** Writes JSON lines to standard error and leaves standard output to the user. */
export function createLogListener(level: LogLevel): Observe {
  const logger: Logger = pino(
    { level: level.toLowerCase(), base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: true }),
  );
  const write = {
    Debug: logger.debug.bind(logger),
    Info: logger.info.bind(logger),
    Warn: logger.warn.bind(logger),
    Error: logger.error.bind(logger),
  };
  const enabled = logLevels.filter((_, index) => index >= logLevels.indexOf(level));
  return (observation) => {
    const at = levelOf[observation.type];
    if (at === null || !enabled.includes(at)) return;
    const { type, ...rest } = observation;
    const cause =
      'cause' in rest ? { err: rest.cause instanceof Error ? pino.stdSerializers.err(rest.cause) : rest.cause } : {};
    const plan = 'plan' in rest ? { plan: rest.plan() } : {};
    write[at]({ ...rest, cause: undefined, ...cause, ...plan }, type);
  };
}
