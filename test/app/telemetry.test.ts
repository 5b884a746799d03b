// The spans and metrics of calls and statements that a real OpenTelemetry SDK receives, by the conventions for MCP and
// databases. Covers every database and both eras of the protocol.
import { Server } from 'node:http';
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { servers, type TestDatabase } from '../databases.ts';
import { startServer, type TestServer } from '../server.ts';
import { runSql } from '../sql/schemas.ts';
import { ask, callTool, type Era } from './call.ts';
import { signedIn } from './shop.ts';
import { startTelemetry, type Telemetry } from './telemetry.ts';

let telemetry: Telemetry;
beforeAll(() => {
  telemetry = startTelemetry();
});
afterAll(() => telemetry.stop());

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const traceparent = (id = TRACE) => `00-${id}-${PARENT}-01`;
const systems = { sqlite: 'sqlite', mariadb: 'mariadb', postgres: 'postgresql' };

describe.each(servers)('$dialect', (server) => {
  let database: TestDatabase;
  let running: TestServer;
  let token: string;
  let seen: unknown[];
  beforeAll(async () => {
    database = await server.create();
    await runSql(database, [
      'CREATE TABLE notes (id INTEGER PRIMARY KEY, text VARCHAR(100) NOT NULL)',
      "INSERT INTO notes VALUES (1, 'one'), (2, 'zebra')",
    ]);
    running = await startServer({
      database: database.url,
      app: {
        customize: (agent) =>
          agent.customizeCollection('notes', (notes) =>
            notes.addHook('Before', 'List', () => {
              seen.push([trace.getActiveSpan()?.spanContext().traceId, propagation.getActiveBaggage()]);
            }),
          ),
      },
    });
    ({ token } = await signedIn(running));
  });
  afterAll(async () => {
    await running.stop();
    await database.drop();
  });
  beforeEach(() => {
    seen = [];
    telemetry.takeSpans();
  });

  const list = (text: string) => ({
    collectionName: 'notes',
    filters: { field: 'text', operator: 'Equal', value: text },
  });
  const shape = () =>
    telemetry.takeSpans().map(({ name, kind, status, attributes, parentSpanContext }) => ({
      name,
      kind,
      status: status.code,
      parent: parentSpanContext?.spanId,
      attributes,
    }));

  test.each<[Era, string]>([
    ['legacy', '2025-11-25'],
    ['modern', '2026-07-28'],
  ])('a %s call is a span, and its statement a child without values', async (era, version) => {
    await callTool(running.mcpUrl, token, 'list', list('zebra'), { era });
    const spans = telemetry.takeSpans();
    const [statement, call] = [spans.at(-2)!, spans.at(-1)!];
    expect([spans.length, call.name, call.kind, call.attributes, call.status.code]).toEqual([
      2,
      'tools/call list',
      SpanKind.SERVER,
      {
        'mcp.method.name': 'tools/call',
        'gen_ai.tool.name': 'list',
        'gen_ai.operation.name': 'execute_tool',
        'jsonrpc.request.id': expect.stringMatching(/^\d+$/),
        'mcp.protocol.version': version,
        'network.transport': 'tcp',
        'network.protocol.name': 'http',
        'portico.collection': 'notes',
      },
      SpanStatusCode.UNSET,
    ]);
    expect([statement.name, statement.kind, statement.parentSpanContext?.spanId, statement.attributes]).toEqual([
      'SELECT notes',
      SpanKind.CLIENT,
      call.spanContext().spanId,
      {
        'db.system.name': systems[database.dialect],
        'db.operation.name': 'SELECT',
        'db.collection.name': 'notes',
        'db.query.text': expect.stringMatching(/^select /i),
        'portico.source': expect.any(String),
      },
    ]);
    expect(JSON.stringify([statement.attributes, call.attributes])).not.toContain('zebra');
    const ms = ([seconds, nanoseconds]: readonly [number, number]) => seconds * 1000 + nanoseconds / 1e6;
    expect(ms(statement.startTime)).toBeGreaterThanOrEqual(ms(call.startTime) - 1);
    expect(ms(statement.endTime)).toBeLessThanOrEqual(ms(call.endTime) + 1);
  });

  test('spans of write statements are named after their operation, without values', async () => {
    const attributes = { id: 7, text: 'a value that is nobody else’s' };
    await callTool(running.mcpUrl, token, 'create', { collectionName: 'notes', attributes });
    const spans = shape();
    expect([
      spans.map(({ name }) => name).filter((name, at, all) => all.indexOf(name) === at),
      JSON.stringify(spans).includes('nobody else'),
    ]).toEqual([expect.arrayContaining(['INSERT notes', 'tools/call create']), false]);
  });

  test('an error that the model receives marks the span as an error, with its code', async () => {
    await callTool(running.mcpUrl, token, 'list', { collectionName: 'nothing' });
    expect(shape()).toEqual([
      expect.objectContaining({
        name: 'tools/call list',
        status: SpanStatusCode.ERROR,
        attributes: expect.objectContaining({
          'error.type': 'tool_error',
          'portico.error.code': 'UNKNOWN_COLLECTION',
        }),
      }),
    ]);
  });

  test('duration histograms have the attributes and buckets of the conventions', async () => {
    await callTool(running.mcpUrl, token, 'list', list('zebra'));
    await callTool(running.mcpUrl, token, 'list', { collectionName: 'nothing' });
    await ask(running.mcpUrl, token, 'tools/list', {});
    const operations = await telemetry.histogram('mcp.server.operation.duration');
    const statements = await telemetry.histogram('db.client.operation.duration');
    expect(operations.descriptor).toMatchObject({ unit: 's' });
    expect(operations.dataPoints[0]?.value.buckets.boundaries).toEqual([
      0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300,
    ]);
    const tool = {
      'mcp.method.name': 'tools/call',
      'gen_ai.tool.name': 'list',
      'gen_ai.operation.name': 'execute_tool',
    };
    expect(operations.dataPoints.map(({ attributes }) => attributes)).toEqual(
      expect.arrayContaining([tool, { ...tool, 'error.type': 'tool_error' }, { 'mcp.method.name': 'tools/list' }]),
    );
    expect(statements.dataPoints.map(({ attributes }) => attributes)).toContainEqual({
      'db.system.name': systems[database.dialect],
      'db.operation.name': 'SELECT',
      'db.collection.name': 'notes',
    });
    expect(statements.dataPoints[0]?.value.buckets.boundaries).toEqual([0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]);
  });

  if (server.dialect !== 'sqlite') return;

  test('a trace continues from the HTTP headers, and application code runs within it', async () => {
    await callTool(running.mcpUrl, token, 'list', list('one'), {
      headers: { traceparent: traceparent(), baggage: 'card=4111' },
    });
    const call = telemetry.takeSpans().at(-1)!;
    // Baggage of a client must not reach services that a hook calls.
    expect([call.spanContext().traceId, call.parentSpanContext?.spanId, seen]).toEqual([
      TRACE,
      PARENT,
      [[TRACE, undefined]],
    ]);
  });

  test('a trace in _meta (SEP-414) takes precedence over the HTTP header', async () => {
    const other = 'a'.repeat(32);
    await ask(
      running.mcpUrl,
      token,
      'tools/call',
      {
        name: 'list',
        arguments: list('one'),
        _meta: { traceparent: traceparent(), tracestate: 'a=1', baggage: 'b=2' },
      },
      { headers: { traceparent: traceparent(other) } },
    );
    const call = telemetry.takeSpans().at(-1)!;
    expect([call.spanContext().traceId, call.parentSpanContext?.spanId, seen]).toEqual([
      TRACE,
      PARENT,
      [[TRACE, undefined]],
    ]);
  });

  test.each([
    ['a number', 7],
    ['nonsense', 'no-trace'],
    ['an object', { a: 1 }],
  ])('a traceparent that is %s starts a new trace', async (_, meta) => {
    const { status } = await ask(running.mcpUrl, token, 'tools/call', {
      name: 'list',
      arguments: list('one'),
      _meta: { traceparent: meta },
    });
    expect([status, telemetry.takeSpans().at(-1)?.parentSpanContext]).toEqual([200, undefined]);
  });

  test('other requests are spans too, and the name of an unknown method is not recorded', async () => {
    await ask(running.mcpUrl, token, 'tools/list', {});
    await ask(running.mcpUrl, token, 'resources/list', {});
    await ask(running.mcpUrl, token, 'made/up-by-a-client', {});
    expect(shape().map(({ name, kind }) => [name, kind])).toEqual([
      ['tools/list', SpanKind.SERVER],
      ['resources/list', SpanKind.SERVER],
      ['_OTHER', SpanKind.SERVER],
    ]);
  });

  test('concurrent calls have separate traces', async () => {
    const ids = Array.from({ length: 40 }, (_, at) => (at + 1).toString(16).padStart(32, '0'));
    await Promise.all(
      ids.map((id) =>
        callTool(running.mcpUrl, token, 'list', list('one'), { headers: { traceparent: traceparent(id) } }),
      ),
    );
    const spans = telemetry.takeSpans();
    const statementsOf = (id: string) =>
      spans.filter((span) => span.spanContext().traceId === id).map(({ name }) => name);
    expect(ids.map(statementsOf)).toEqual(ids.map(() => ['SELECT notes', 'tools/call list']));
  });

  test('an instrumented HTTP span is the parent, or linked if _meta names another', async () => {
    const span = trace.getTracer('http').startSpan('POST');
    // Handles requests within the span, as an instrumentation of node:http does.
    const { emit } = Server.prototype;
    Server.prototype.emit = function (this: Server, ...given: Parameters<typeof emit>) {
      const run = () => emit.apply(this, given);
      return String(given[0]) === 'request' ? context.with(trace.setSpan(context.active(), span), run) : run();
    } as typeof emit;
    try {
      await callTool(running.mcpUrl, token, 'list', list('one'), { headers: { traceparent: traceparent() } });
      const params = { name: 'list', arguments: list('one'), _meta: { traceparent: traceparent() } };
      await ask(running.mcpUrl, token, 'tools/call', params);
    } finally {
      Server.prototype.emit = emit;
    }
    const calls = telemetry.takeSpans().filter(({ name }) => name === 'tools/call list');
    const { spanId } = span.spanContext();
    expect(
      calls.map(({ parentSpanContext, links }) => [
        parentSpanContext?.spanId,
        links.map((link) => link.context.spanId),
      ]),
    ).toEqual([
      [spanId, []],
      [PARENT, [spanId]],
    ]);
  });
});
