// The content of /metrics, counted from observations. Labels come only from Portico and the operator: tools, sources,
// outcomes. Users, clients and collections are never labels, because they are unbounded in number and confidential.
import { type Clock, watchEventLoop } from '../clock.ts';
import type { Observation, ObservationType, Observe } from '../observe.ts';
import { operationSeconds, statementSeconds } from './buckets.ts';
import { createRegistry, type Registry } from './prometheus.ts';

interface Metrics {
  readonly listen: Observe;
  /** In the text format of Prometheus. */
  text(): string;
  close(): void;
}

type Handlers = { readonly [T in ObservationType]?: (observation: Extract<Observation, { type: T }>) => void };

export function createMetrics({ version, clock }: { readonly version: string; readonly clock: Clock }): Metrics {
  const registry = createRegistry();
  const loop = addProcess(registry, version, clock);
  const handlers: Handlers = { ...countCalls(registry), ...countAccess(registry), ...countData(registry) };
  return {
    listen: (observation) =>
      (handlers[observation.type] as ((observed: Observation) => void) | undefined)?.(observation),
    text: () => registry.text(),
    close: () => loop.stop(),
  };
}

function countCalls(registry: Registry): Handlers {
  const calls = registry.counter({
    name: 'portico_tool_calls_total',
    help: 'Completed tool calls, by outcome.',
    labels: ['tool', 'outcome'],
  });
  const errors = registry.counter({
    name: 'portico_tool_errors_total',
    help: 'Tool calls that returned an error, by error code.',
    labels: ['code'],
  });
  const durations = registry.histogram({
    name: 'portico_tool_call_duration_seconds',
    help: 'Time from the arguments of a tool call to its answer.',
    labels: ['tool'],
    bounds: [0.001, 0.0025, 0.005, ...operationSeconds],
  });
  const inFlight = registry.gauge({ name: 'portico_tool_calls_in_flight', help: 'Tool calls in progress.' });
  const requests = registry.counter({
    name: 'portico_mcp_requests_total',
    help: 'MCP requests other than tool calls.',
    labels: ['method', 'status'],
  });
  const routes = registry.counter({
    name: 'portico_agent_api_calls_total',
    help: "Calls of the agent's HTTP API for data.",
    labels: ['action', 'outcome'],
  });
  let open = 0;
  inFlight.set([], 0);
  return {
    'tool.began': () => inFlight.set([], ++open),
    'tool.called': ({ tool, outcome, code, milliseconds }) => {
      inFlight.set([], --open);
      calls.add([tool, outcome]);
      if (code !== undefined) errors.add([code]);
      durations.observe([tool], milliseconds / 1000);
    },
    'mcp.answered': ({ method, status }) => requests.add([method, String(status)]),
    'route.called': ({ action, outcome }) => routes.add([action, outcome]),
  };
}

function countAccess(registry: Registry): Handlers {
  const checks = registry.counter({
    name: 'portico_token_checks_total',
    help: 'Checks of access tokens in MCP requests, missing ones included.',
    labels: ['outcome'],
  });
  const limited = registry.counter({
    name: 'portico_rate_limited_total',
    help: 'Requests refused by a rate limit.',
    labels: ['endpoint'],
  });
  const security = registry.counter({
    name: 'portico_security_events_total',
    help: 'Sign-ins, grants, refreshes, revocations and refusals.',
    labels: ['event'],
  });
  const failures = registry.counter({
    name: 'portico_failures_total',
    help: 'Unexpected errors; the log has each with its cause.',
  });
  const warnings = registry.counter({ name: 'portico_warnings_total', help: 'Warnings; the log has each.' });
  failures.add([], 0);
  warnings.add([], 0);
  return {
    'token.checked': ({ outcome }) => checks.add([outcome]),
    security: ({ event }) => {
      security.add([event]);
      if (event.endsWith('.throttled')) limited.add([event.slice(0, -'.throttled'.length)]);
    },
    failure: () => failures.add([]),
    warning: () => warnings.add([]),
  };
}

function countData(registry: Registry): Handlers {
  const statements = registry.counter({
    name: 'portico_statements_total',
    help: 'Statements on the served databases.',
    labels: ['source', 'operation', 'outcome'],
  });
  const durations = registry.histogram({
    name: 'portico_statement_duration_seconds',
    help: 'Time of a statement, including its wait for a connection.',
    labels: ['source', 'operation'],
    bounds: [0.0001, ...statementSeconds],
  });
  const connections = registry.gauge({
    name: 'portico_pool_connections_used',
    help: 'Connections of a data source in use.',
    labels: ['source'],
  });
  const waiting = registry.gauge({
    name: 'portico_pool_waiting',
    help: 'Statements that are waiting for a connection of a data source.',
    labels: ['source'],
  });
  const maxConnections = registry.gauge({
    name: 'portico_pool_connections_limit',
    help: 'Maximum number of connections of a data source.',
    labels: ['source'],
  });
  return {
    'statement.ran': ({ source, operation, outcome, milliseconds }) => {
      statements.add([source, operation, outcome]);
      durations.observe([source, operation], milliseconds / 1000);
    },
    'pool.changed': (pool) => {
      connections.set([pool.source], pool.used);
      waiting.set([pool.source], pool.waiting);
      maxConnections.set([pool.source], pool.most);
    },
  };
}

/** Process metrics, with the names that Node dashboards expect. */
function addProcess(registry: Registry, version: string, clock: Clock) {
  const loop = watchEventLoop();
  const gauge = (name: string, help: string) => registry.gauge({ name, help });
  const build = registry.gauge({ name: 'portico_build_info', help: 'Always 1.', labels: ['version', 'node'] });
  build.set([version, process.version], 1);
  const started = gauge('process_start_time_seconds', 'Start time of the process, since the epoch.');
  started.set([], clock.now() / 1000 - process.uptime());
  const cpu = registry.counter({ name: 'process_cpu_seconds_total', help: 'CPU time, user and system.' });
  const resident = gauge('process_resident_memory_bytes', 'Resident memory of the process.');
  const heapUsed = gauge('nodejs_heap_size_used_bytes', 'Heap in use.');
  const heapTotal = gauge('nodejs_heap_size_total_bytes', 'Reserved heap.');
  const lags = {
    mean: gauge('nodejs_eventloop_lag_mean_seconds', 'Delay of the event loop since the last scrape, on average.'),
    p50: gauge('nodejs_eventloop_lag_p50_seconds', 'Delay of the event loop since the last scrape, median.'),
    p99: gauge('nodejs_eventloop_lag_p99_seconds', 'Delay of the event loop since the last scrape, 99th percentile.'),
    max: gauge('nodejs_eventloop_lag_max_seconds', 'Delay of the event loop since the last scrape, longest.'),
  };
  let reportedCpu = 0;
  registry.collect(() => {
    const { user, system } = process.cpuUsage();
    const seconds = (user + system) / 1e6;
    cpu.add([], seconds - reportedCpu);
    reportedCpu = seconds;
    const memory = process.memoryUsage();
    resident.set([], memory.rss);
    heapUsed.set([], memory.heapUsed);
    heapTotal.set([], memory.heapTotal);
    const lag = loop.take();
    for (const [name, metric] of Object.entries(lags)) metric.set([], lag[name as keyof typeof lags]);
  });
  return loop;
}
