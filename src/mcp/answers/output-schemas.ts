// What each tool answers, as JSON Schema, for clients that type results (SERVICE_MCP_OUTPUT_SCHEMA). Off by default: a host
// puts the schemas in front of the model, and many forward the text and the structured content, which costs twice. They say
// as much as holds for every answer: what varies with the call is named and not required. Errors have no structure.

type Schema = Readonly<Record<string, unknown>>;

const object = (properties: Schema, required: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
});
const text: Schema = { type: 'string' };
const whole: Schema = { type: 'integer' };
const flag: Schema = { type: 'boolean' };
const texts: Schema = { type: 'array', items: text };
const rows: Schema = { type: 'array', items: { type: 'array' } };
const byName: Schema = { type: 'object' };

const table = { columns: texts, rows, hasMore: flag, note: text };

/** `format` decides whether there are rows or records. */
const list = object(
  {
    ...table,
    records: { type: 'array', items: byName },
    nextCursor: text,
    totalCount: { type: ['integer', 'null'] },
  },
  ['hasMore'],
);

/** A dry run has `changes`; `count` is how many records were, or would be, touched. */
const written = object({
  dryRun: flag,
  count: whole,
  ids: { type: 'array' },
  columns: texts,
  rows,
  collection: text,
  changes: { type: 'array', items: object({ id: {}, fields: byName }) },
  note: text,
  // Of a call that waits for somebody's yes.
  status: text,
});

const schemas: Readonly<Record<string, Schema>> = {
  describeCollection: object({
    collections: { type: ['object', 'array'] },
    charts: texts,
    name: text,
    key: { type: ['string', 'array'] },
    fields: byName,
    relations: byName,
    segments: texts,
    actions: byName,
    operators: byName,
    permissions: text,
    note: text,
  }),
  list,
  listRelated: list,
  create: written,
  update: written,
  delete: written,
  associate: written,
  dissociate: written,
  getActionForm: object({ fields: byName, notes: texts, missing: texts, problems: byName, canExecute: flag }, [
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
    // A number of a webhook, a text of a call that waits for somebody's yes.
    status: { type: ['integer', 'string'] },
    name: text,
    mimeType: text,
    dryRun: flag,
    records: whole,
    note: text,
  }),
  requestActionFileUpload: object(
    { uploadUrl: text, method: text, headers: byName, fileHandle: text, maxBytes: whole, expiresInSeconds: whole },
    ['uploadUrl', 'fileHandle'],
  ),
  aggregate: object(table, ['columns', 'rows', 'hasMore']),
  listWorkflows: object(table, ['columns', 'rows']),
  triggerWorkflow: object({ runId: text, state: text, page: text }, ['runId', 'state']),
  getWorkflowRun: object(
    {
      ...{ runId: text, workflow: text, collectionName: text, recordId: text, state: text, page: text, note: text },
      ...{ columns: texts, rows, waitsFor: byName, failure: byName, startedAt: text, finishedAt: text },
    },
    ['runId', 'state'],
  ),
  getChart: object({ ...table, value: {}, previous: {}, objective: {}, data: {}, start: text }),
};

/** Undefined for a tool that has none: its answers then are text alone. */
export const outputSchemaOf = (tool: string): Schema | undefined => schemas[tool];

/**
 * The text is the JSON of an object; a number in a JSON column that a double cannot hold loses digits here, and is whole
 * in the text.
 */
export function structureOf(answer: string): Record<string, unknown> | undefined {
  const parsed: unknown = JSON.parse(answer);
  return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
    ? (parsed as Record<string, unknown>)
    : undefined;
}
