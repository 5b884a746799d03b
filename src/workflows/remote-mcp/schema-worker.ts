// Worker thread that checks values against the schema of a remote tool. The schema is untrusted: its `pattern` is a
// JavaScript regular expression and may run forever.

import { parentPort } from 'node:worker_threads';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { lowerPriority } from '../../core/limit/priority.ts';
import type { WorkerAnswer } from '../../core/limit/workers.ts';
import type { SchemaCheck } from './client.ts';

lowerPriority();

parentPort?.on('message', ({ schema, values }: SchemaCheck) => {
  let result: WorkerAnswer;
  try {
    result = { answer: new AjvJsonSchemaValidator().getValidator(schema as never)(values).errorMessage ?? null };
  } catch (error) {
    result = { error: (error as Error).message };
  }
  parentPort?.postMessage(result);
});
