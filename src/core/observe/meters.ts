// Metrics through the OpenTelemetry API package, with the same conventions as the spans. Instruments use the provider
// that is registered when the server starts. A provider registered later receives no data.
import { type Attributes, metrics } from '@opentelemetry/api';
import type { Observe } from '../observe.ts';
import { operationSeconds, statementSeconds } from './buckets.ts';

export function createMeterListener(): Observe {
  const meter = metrics.getMeter('portico');
  const operations = meter.createHistogram('mcp.server.operation.duration', {
    unit: 's',
    description: 'From the arrival of a request of MCP to its answer',
    advice: { explicitBucketBoundaries: [...operationSeconds] },
  });
  const statements = meter.createHistogram('db.client.operation.duration', {
    unit: 's',
    description: 'Of one statement, its wait for a connection included',
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
