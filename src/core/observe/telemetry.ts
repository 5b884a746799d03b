// Spans and histograms with the OpenTelemetry semantic conventions for MCP and for database clients (development,
// November 2026). They use only the API package: without an SDK registered by the operator, they have no effect.
// Histograms use the provider that is registered when the server starts. A provider registered later receives no data.
//
// The span of a request must be open while the request is served, because later spans become its children. The endpoint
// therefore wraps the work in `inSpan`. Observations provide the rest: `tool.called` and `mcp.answered` describe how
// the open span ended, and each finished statement becomes its own span.
import type * as Api from '@opentelemetry/api';
import type { Attributes, Context, Span } from '@opentelemetry/api';
import type { Clock } from '../clock.ts';
import { requireIfInstalled } from '../config/optional-package.ts';
import type { Observation, Observe } from '../observe.ts';
import { operationSeconds, statementSeconds } from './buckets.ts';

/** A `Context` of OpenTelemetry. Published declarations must not need its package. Undefined without the package. */
type ActiveContext = object | undefined;

/** Trace information of a request: the caller's trace context and the transport. */
export interface TraceOrigin {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The active context when the request arrived: the span of an instrumented HTTP server, if there is one. */
  readonly ambient: ActiveContext;
  readonly protocolVersion: string | undefined;
  /** The id from the client, if the request continues with another one. */
  readonly requestId?: string | number;
  readonly sessionId: string | undefined;
}

interface SpanOptions {
  /** An MCP method. */
  readonly method: string;
  /** The tool, if the method is `tools/call`. */
  readonly tool?: string;
  readonly requestId: string | number | undefined;
  /** Undefined over a pipe. */
  readonly origin: TraceOrigin | undefined;
  /** `params._meta` of the request. */
  readonly meta?: unknown;
}

const NAME = 'portico';
const api = requireIfInstalled<typeof Api>('@opentelemetry/api');
// Without the package `isSilent` is true, and nothing else uses these.
const { context, metrics, ProxyTracerProvider, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } =
  api ?? ({} as typeof Api);
const spanKey = api?.createContextKey('portico.request');

/** The package is not installed or no SDK is registered, so there are no spans and no context to propagate. */
function isSilent(): boolean {
  if (!api) return true;
  const provider = trace.getTracerProvider();
  return provider instanceof ProxyTracerProvider && provider.getDelegate() === nobody;
}

/** The default delegate of a proxy until an SDK is registered. */
const nobody = api && new ProxyTracerProvider().getDelegate();

export const activeContext = (): ActiveContext => api && context.active();

/** Runs the work within the span of a request. Child spans and observations of the work find it in the context. */
export function inSpan<T>(options: SpanOptions, work: () => Promise<T>): Promise<T> {
  if (isSilent()) return work();
  const tracer = trace.getTracer(NAME);
  const { parent, link } = parentOf(options);
  const span = tracer.startSpan(
    options.tool === undefined ? options.method : `${options.method} ${options.tool}`,
    { kind: SpanKind.SERVER, attributes: attributesOf(options), ...(link && { links: [{ context: link }] }) },
    parent,
  );
  // Not recording: no SDK, or the sampler declined. The parent is still propagated, and children decline as well.
  const contextWithSpan = trace.setSpan(parent, span);
  if (!span.isRecording()) return context.with(contextWithSpan, work);
  return context.with(contextWithSpan.setValue(spanKey!, span), async () => {
    try {
      return await work();
    } catch (error) {
      fail(span, '_OTHER');
      throw error;
    } finally {
      span.end();
    }
  });
}

/**
 * The parent is `_meta` of the request (SEP-414), else the span of the instrumented HTTP server, else the HTTP headers.
 * A request with its own parent links to the HTTP span. Baggage is dropped: data from a client must not reach the
 * services that a hook or action calls.
 */
function parentOf({ origin, meta }: SpanOptions): { parent: Context; link?: ReturnType<Span['spanContext']> } {
  const active = origin?.ambient as Context | undefined;
  const ambient = active && trace.getSpanContext(active);
  const requestContext = typeof meta === 'object' && meta !== null ? extract(meta) : undefined;
  if (requestContext && trace.getSpanContext(requestContext))
    return { parent: requestContext, ...(ambient && { link: ambient }) };
  if (active && ambient) return { parent: active };
  return { parent: origin ? extract(origin.headers) : ROOT_CONTEXT };
}

const extract = (carrier: object): Context => propagation.deleteBaggage(propagation.extract(ROOT_CONTEXT, carrier));

function attributesOf({ method, tool, requestId, origin }: SpanOptions): Attributes {
  return {
    'mcp.method.name': method,
    ...(tool !== undefined && { 'gen_ai.tool.name': tool, 'gen_ai.operation.name': 'execute_tool' }),
    ...(requestId !== undefined && { 'jsonrpc.request.id': String(requestId) }),
    ...(origin?.protocolVersion !== undefined && { 'mcp.protocol.version': origin.protocolVersion }),
    ...(origin?.sessionId !== undefined && { 'mcp.session.id': origin.sessionId }),
    ...(origin ? { 'network.transport': 'tcp', 'network.protocol.name': 'http' } : { 'network.transport': 'pipe' }),
  };
}

function fail(span: Span, errorType: string): void {
  span.setAttribute('error.type', errorType);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Completes open spans, creates spans for statements, and records the duration of both. */
export function createTelemetryListener(clock: Pick<Clock, 'monotonic'>): Observe {
  const measure = createMeterListener();
  return (observation) => {
    measure(observation);
    if (observation.type === 'statement.ran') traceStatement(observation, clock);
    else if (observation.type === 'tool.called') completeCall(observation);
    else if (observation.type === 'mcp.answered' && observation.status >= 400) {
      const span = openSpan();
      if (span) fail(span, String(observation.status));
    }
  };
}

/** The span of the current request, never a span of the host application. */
const openSpan = (): Span | undefined => spanKey && (context.active().getValue(spanKey) as Span | undefined);

function completeCall(call: Extract<Observation, { type: 'tool.called' }>): void {
  const span = openSpan();
  if (!span) return;
  if (call.collection !== undefined) span.setAttribute('portico.collection', call.collection);
  if (call.outcome === 'completed') return;
  // A result with `isError` is a `tool_error`, whatever the cause (conventions, error.type). A separate attribute has
  // the code.
  fail(span, 'tool_error');
  if (call.code !== undefined) span.setAttribute('portico.error.code', call.code);
}

function traceStatement(statement: Extract<Observation, { type: 'statement.ran' }>, clock: Pick<Clock, 'monotonic'>) {
  if (!openSpan()) return;
  const endTime = clock.monotonic();
  const span = trace.getTracer(NAME).startSpan(`${statement.operation} ${statement.table}`, {
    kind: SpanKind.CLIENT,
    startTime: endTime - statement.milliseconds,
    attributes: {
      'db.system.name': statement.system,
      'db.operation.name': statement.operation,
      'db.collection.name': statement.table,
      'db.query.text': statement.text,
      'portico.source': statement.source,
    },
  });
  if (statement.outcome === 'failed') {
    if (statement.code !== undefined) span.setAttribute('db.response.status_code', statement.code);
    fail(span, statement.code ?? '_OTHER');
  }
  span.end(endTime);
}

function createMeterListener(): Observe {
  if (!api) return () => undefined;
  const meter = metrics.getMeter('portico');
  const operations = meter.createHistogram('mcp.server.operation.duration', {
    unit: 's',
    description: 'Time from the arrival of an MCP request to its answer',
    advice: { explicitBucketBoundaries: [...operationSeconds] },
  });
  const statements = meter.createHistogram('db.client.operation.duration', {
    unit: 's',
    description: 'Time of a statement, including its wait for a connection',
    advice: { explicitBucketBoundaries: [...statementSeconds] },
  });
  return (observation) => {
    const seconds = 'milliseconds' in observation ? observation.milliseconds / 1000 : 0;
    if (observation.type === 'tool.called') {
      const attributes: Attributes = {
        'mcp.method.name': 'tools/call',
        'gen_ai.tool.name': observation.tool,
        'gen_ai.operation.name': 'execute_tool',
        ...(observation.outcome !== 'completed' && { 'error.type': 'tool_error' }),
      };
      operations.record(seconds, attributes);
    } else if (observation.type === 'mcp.answered') {
      operations.record(seconds, {
        'mcp.method.name': observation.method,
        ...(observation.status >= 400 && { 'error.type': String(observation.status) }),
      });
    } else if (observation.type === 'statement.ran') {
      statements.record(seconds, {
        'db.system.name': observation.system,
        'db.operation.name': observation.operation,
        'db.collection.name': observation.table,
        ...(observation.outcome === 'failed' && { 'error.type': observation.code ?? '_OTHER' }),
      });
    }
  };
}
