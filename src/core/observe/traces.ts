// Spans by the OpenTelemetry semantic conventions for MCP and for database clients (development, November 2026), through
// the API package alone: without an SDK that the operator registers, every call here does nothing.
//
// The span of a request must be open while it is served, since what happens within it becomes its children; so the front
// wraps the work in `inSpan`. All else is told by observations: `tool.called` and `mcp.answered` say how the open span
// ended, and a statement becomes a span of its own when it is over.
import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  ProxyTracerProvider,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { Clock } from '../clock.ts';
import type { Observation, Observe } from '../observe.ts';

/** What a request brought along: where the caller's trace may be continued, and how it was carried. */
export interface TraceOrigin {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** What was active where the request came in: the span of an instrumented HTTP server, where there is one. */
  readonly ambient: Context;
  readonly protocolVersion: string | undefined;
  /** As the client wrote it, where the request goes on under another. */
  readonly requestId?: string | number;
  readonly sessionId: string | undefined;
}

export interface SpanOptions {
  /** A method of MCP. */
  readonly method: string;
  /** The tool, where the method is `tools/call`. */
  readonly tool?: string;
  readonly requestId: string | number | undefined;
  /** Undefined over a pipe. */
  readonly origin: TraceOrigin | undefined;
  /** `params._meta` of the request. */
  readonly meta?: unknown;
}

const NAME = 'portico';
const served = createContextKey('portico.request');

/** Nobody has registered an SDK: there is no span to make, and no context that would be carried on. */
function isSilent(): boolean {
  const provider = trace.getTracerProvider();
  return provider instanceof ProxyTracerProvider && provider.getDelegate() === nobody;
}

/** What a proxy stands for until an SDK is registered. */
const nobody = new ProxyTracerProvider().getDelegate();

export const activeContext = (): Context => context.active();

/** Does the work within the span of a request; children and observations of the work find it there. */
export function inSpan<T>(options: SpanOptions, work: () => Promise<T>): Promise<T> {
  if (isSilent()) return work();
  const tracer = trace.getTracer(NAME);
  const { parent, link } = parentOf(options);
  const span = tracer.startSpan(
    options.tool === undefined ? options.method : `${options.method} ${options.tool}`,
    { kind: SpanKind.SERVER, attributes: attributesOf(options), ...(link && { links: [{ context: link }] }) },
    parent,
  );
  // Nothing records: no SDK, or a sampler that declines. The parent is still passed on, so that children decline as well.
  const within = trace.setSpan(parent, span);
  if (!span.isRecording()) return context.with(within, work);
  return context.with(within.setValue(served, span), async () => {
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
 * `_meta` of the request first (SEP-414), then the span of the HTTP server where it is instrumented, then the HTTP headers
 * themselves. A request that names its own parent links to the span of HTTP. Baggage is left behind: what a client sends
 * there must not travel on to whatever a hook or an action calls.
 */
function parentOf({ origin, meta }: SpanOptions): { parent: Context; link?: ReturnType<Span['spanContext']> } {
  const ambient = origin && trace.getSpanContext(origin.ambient);
  const told = typeof meta === 'object' && meta !== null ? extract(meta) : undefined;
  if (told && trace.getSpanContext(told)) return { parent: told, ...(ambient && { link: ambient }) };
  if (ambient) return { parent: origin.ambient };
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

/** Completes the spans that are open, and makes those of statements. */
export function createTraceListener(clock: Pick<Clock, 'monotonic'>): Observe {
  return (observation) => {
    if (observation.type === 'statement.ran') traceStatement(observation, clock);
    else if (observation.type === 'tool.called') completeCall(observation);
    else if (observation.type === 'mcp.answered' && observation.status >= 400) {
      const span = openSpan();
      if (span) fail(span, String(observation.status));
    }
  };
}

/** Of the request that is being served, and of no span that a host application may have open. */
const openSpan = (): Span | undefined => context.active().getValue(served) as Span | undefined;

function completeCall(call: Extract<Observation, { type: 'tool.called' }>): void {
  const span = openSpan();
  if (!span) return;
  if (call.collection !== undefined) span.setAttribute('portico.collection', call.collection);
  if (call.outcome === 'completed') return;
  // A result that says `isError` is a `tool_error`, whatever was wrong (conventions, error.type); what it was stands beside.
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
