// JSON Schemas of the answers, for clients that type results (SERVICE_MCP_OUTPUT_SCHEMA). Off by default: hosts show
// the schemas to the model, and many forward both the text and the structured content, which doubles the cost. Each
// schema holds for every answer of its tool, so members that vary are optional. Errors have no structured content.

type Schema = Readonly<Record<string, unknown>>;

const object = (properties: Schema, required: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
});
const text: Schema = { type: 'string' };
const integer: Schema = { type: 'integer' };
const boolean: Schema = { type: 'boolean' };
const texts: Schema = { type: 'array', items: text };
const rows: Schema = { type: 'array', items: { type: 'array' } };
const record: Schema = { type: 'object' };

const table = { columns: texts, rows, hasMore: boolean, note: text };

/** `format` decides between rows and records. */
const list = object(
  {
    ...table,
    records: { type: 'array', items: record },
    nextCursor: text,
    totalCount: { type: ['integer', 'null'] },
  },
  ['hasMore'],
);

/** A dry run has `changes`. `count` is the number of records that were written, or would be. */
const writeResult = object({
  dryRun: boolean,
  count: integer,
  ids: { type: 'array' },
  columns: texts,
  rows,
  collection: text,
  changes: { type: 'array', items: object({ id: {}, fields: record }) },
  note: text,
  // Only while a call waits for approval.
  status: text,
});

const schemas: Readonly<Record<string, Schema>> = {
  describeCollection: object({
    collections: { type: ['object', 'array'] },
    charts: texts,
    name: text,
    description: text,
    descriptions: record,
    synonyms: texts,
    key: { type: ['string', 'array'] },
    fields: record,
    relations: record,
    segments: { type: ['object', 'array'] },
    metrics: { type: ['object', 'array'] },
    actions: record,
    operators: record,
    permissions: text,
    note: text,
  }),
  list,
  listRelated: list,
  create: writeResult,
  update: writeResult,
  delete: writeResult,
  associate: writeResult,
  dissociate: writeResult,
  getActionForm: object({ fields: record, notes: texts, missing: texts, problems: record, canExecute: boolean }, [
    'fields',
    'canExecute',
  ]),
  executeAction: object({
    result: text,
    message: text,
    text,
    changed: texts,
    url: text,
    host: text,
    // The HTTP status of a webhook, or the text of a call that waits for approval.
    status: { type: ['integer', 'string'] },
    name: text,
    mimeType: text,
    dryRun: boolean,
    records: integer,
    note: text,
  }),
  requestActionFileUpload: object(
    { uploadUrl: text, method: text, headers: record, fileHandle: text, maxBytes: integer, expiresInSeconds: integer },
    ['uploadUrl', 'fileHandle'],
  ),
  aggregate: object(table, ['columns', 'rows', 'hasMore']),
  listWorkflows: object(table, ['columns', 'rows']),
  triggerWorkflow: object({ runId: text, state: text, page: text }, ['runId', 'state']),
  getWorkflowRun: object(
    {
      ...{ runId: text, workflow: text, collectionName: text, recordId: text, state: text, page: text, note: text },
      ...{ columns: texts, rows, waitsFor: record, failure: record, startedAt: text, finishedAt: text },
    },
    ['runId', 'state'],
  ),
  getChart: object({ ...table, value: {}, previous: {}, objective: {}, data: {}, start: text }),
};

/** Undefined for a tool without a schema; its answers are text only. */
export const outputSchemaOf = (tool: string): Schema | undefined => schemas[tool];

/**
 * Parses an answer that is a JSON object. A number in a JSON column beyond the precision of a double loses digits; the
 * text keeps them.
 */
export function parseStructured(answer: string): Record<string, unknown> | undefined {
  const parsed: unknown = JSON.parse(answer);
  return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
    ? (parsed as Record<string, unknown>)
    : undefined;
}
