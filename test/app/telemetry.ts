// A real OpenTelemetry SDK with in-memory exporters. It is registered before the server is created, as operators do it.
import { context, metrics, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  AggregationTemporality,
  type HistogramMetricData,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';

export interface Telemetry {
  /** Spans that ended since the last call. */
  takeSpans(): readonly ReadableSpan[];
  /** All values recorded so far. */
  histogram(name: string): Promise<HistogramMetricData>;
  stop(): Promise<void>;
}

export function startTelemetry(): Telemetry {
  const spans = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(
    new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()] }),
  );
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  return {
    takeSpans() {
      const taken = [...spans.getFinishedSpans()];
      spans.reset();
      return taken;
    },
    async histogram(name) {
      await reader.forceFlush();
      const all =
        exporter
          .getMetrics()
          .at(-1)
          ?.scopeMetrics.flatMap((scope) => scope.metrics) ?? [];
      const found = all.find(({ descriptor }) => descriptor.name === name);
      if (!found) throw new Error(`no metric ${name}`);
      return found as HistogramMetricData;
    },
    async stop() {
      await reader.shutdown();
      for (const api of [trace, context, propagation, metrics]) api.disable();
    },
  };
}
