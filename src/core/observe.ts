// What happens in the house is told as typed observations; the log, traces and metrics (observe/) listen to them. An
// observation never holds an argument value, a token or a password: names and ids only.
import { type Logger, pino } from 'pino';

/** Something that happened, as listeners are told it. It holds names and ids, never values, tokens or passwords. */
export type Observation =
  | { readonly type: 'server.started'; readonly address: string; readonly milliseconds: number }
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
  /** Each is followed by `tool.called`. */
  | { readonly type: 'tool.began'; readonly tool: string }
  | {
      readonly type: 'tool.called';
      readonly tool: string;
      readonly collection?: string;
      readonly userId: number;
      readonly clientId: string;
      readonly outcome: 'completed' | 'failed' | 'denied';
      readonly code?: string;
      readonly milliseconds: number;
    }
  | {
      /** A call of the agent's HTTP API that is about data. */
      readonly type: 'route.called';
      /** As the activity log names it, such as `list`. */
      readonly action: string;
      readonly collection?: string;
      readonly userId: number;
      readonly outcome: 'completed' | 'failed' | 'denied';
      readonly code?: string;
      readonly milliseconds: number;
    }
  | {
      /** A request of MCP that is not a tool call. */
      readonly type: 'mcp.answered';
      /** One of the protocol's own, or `_OTHER`. */
      readonly method: string;
      /** Of HTTP. */
      readonly status: number;
      readonly milliseconds: number;
    }
  | { readonly type: 'token.checked'; readonly outcome: 'accepted' | 'refused' }
  | {
      /** One statement on a database of the application, its wait for a connection included. */
      readonly type: 'statement.ran';
      readonly source: string;
      readonly system: 'sqlite' | 'mysql' | 'mariadb' | 'postgresql';
      readonly operation: 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE';
      readonly table: string;
      /** Values are bound: there are none in it. */
      readonly text: string;
      readonly outcome: 'completed' | 'failed';
      /** Of ours, or the database's. */
      readonly code?: string;
      readonly milliseconds: number;
    }
  | {
      /** Connections of one source, whenever one is asked for, had or given back. */
      readonly type: 'pool.changed';
      readonly source: string;
      readonly used: number;
      /** Calls that wait for one. */
      readonly waiting: number;
      readonly most: number;
    }
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
      readonly type: 'query.planned';
      readonly collection: string;
      /** The plan as text, made only for who asks. */
      readonly plan: () => string;
    }
  | {
      /** Tables and views without a primary key: the unique key that is taken in its place, as `table (a, b)`, or none. */
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
      /** Sign-ins, grants, refreshes, revocations, reuse, refused clients: what an operator wants to be told of. */
      readonly type: 'security';
      readonly event: string;
      readonly userId?: number;
      readonly clientId?: string;
      readonly address?: string;
      readonly detail?: string;
    };

export type ObservationType = Observation['type'];
/** Tells the listeners (the log, metrics, spans) that something happened. It never throws. */
export type Observe = (observation: Observation) => void;

/** From which on something is logged. */
export type LogLevel = 'Debug' | 'Info' | 'Warn' | 'Error';
export const logLevels = ['Debug', 'Info', 'Warn', 'Error'] as const;

/** Null: for listeners that count; a log would be drowned in it. */
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
  'store.migrated': 'Info',
  'store.swept': 'Debug',
  'source.introspected': 'Debug',
  'query.planned': 'Debug',
  'source.keys': 'Info',
  'source.isolated': 'Debug',
  security: 'Info',
};

export interface Observer {
  readonly observe: Observe;
  /** Adds a listener; it must not throw. */
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

/** A logger of the host application (spec 2.1). */
export type LogFunction = (level: LogLevel, message: string, error?: unknown) => void;

/** Observations as lines of text for a logger of the host application; what it throws is its own matter. */
export function createFunctionListener(logger: LogFunction, level: LogLevel): Observe {
  const enabled = logLevels.slice(logLevels.indexOf(level));
  return (observation) => {
    const at = levelOf[observation.type];
    if (at === null || !enabled.includes(at)) return;
    try {
      const message = lineOf(observation);
      if ('cause' in observation && observation.cause !== undefined) logger(at, message, observation.cause);
      else logger(at, message);
    } catch {
      // What is observed must not fail because it cannot be told.
    }
  };
}

/** A warning's own sentence; else the type and its details, as in `source.introspected: source=shop tables=3`. */
function lineOf(observation: Observation): string {
  if (observation.type === 'warning') return observation.message;
  const details = Object.entries(observation).filter(([name]) => name !== 'type' && name !== 'cause');
  const said = details.map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return [observation.type, said.join(' ')].filter(Boolean).join(': ');
}

/** JSON lines on standard error; standard output stays the user's. */
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
