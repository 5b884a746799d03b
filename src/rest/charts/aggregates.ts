// Figures by the same body as the tool `aggregate`, with the caller's rights and visible rows. The engine checks the
// values, and names them in its errors.
import type { AggregateAnswer, AggregateRequest } from '../../agent/requests.ts';
import { operations } from '../../agent/sources/statement.ts';
import { failArgument, isObject, type JsonObject } from '../records/body.ts';
import { type Answer, type DataCall, type DataRequest, toCallOptions } from '../route.ts';

const DEFAULT_LIMIT = 50;

const isText = (value: unknown) => typeof value === 'string';
const isFlag = (value: unknown) => typeof value === 'boolean';
/** What each member must be, and its name in the engine's request. */
const members: Readonly<Record<string, readonly [is: (value: unknown) => boolean, what: string, as?: string]>> = {
  measures: [isObject, 'an object'],
  collectionName: [isText, 'a string'],
  operation: [isText, 'a string'],
  field: [isText, 'a string'],
  order: [isText, 'a string'],
  groups: [Array.isArray, 'a list'],
  filters: [isObject, 'an object', 'filter'],
  having: [isObject, 'an object'],
  sort: [Array.isArray, 'a list'],
  top: [isObject, 'an object'],
  compare: [isObject, 'an object'],
  includeEmpty: [isFlag, 'true or false'],
  over: [isObject, 'an object'],
  segment: [isText, 'a string'],
  search: [isText, 'a string'],
  shouldSearchInRelation: [isFlag, 'true or false', 'searchExtended'],
  timezone: [isText, 'a string'],
  limit: [Number.isInteger, 'a whole number'],
  cursor: [isText, 'a string'],
};

/** Otherwise the body is of a chart, which has a `type`. */
export function isAggregate(body: unknown): body is JsonObject {
  return isObject(body) && (body.measures !== undefined || (body.operation !== undefined && body.type === undefined));
}

/** In any case, as the tool takes it. Other texts are refused by the engine. */
const toOperation = (text: unknown): unknown =>
  operations.find((each) => each.toLowerCase() === String(text).toLowerCase()) ?? text;

export function parseAggregate(body: JsonObject, { params }: DataRequest): AggregateRequest {
  const request: Record<string, unknown> = { limit: DEFAULT_LIMIT };
  for (const [name, value] of Object.entries(body)) {
    const member = Object.hasOwn(members, name) ? members[name] : undefined;
    if (!member)
      return failArgument(name, `unknown. Next to measures, send ${Object.keys(members).slice(2).join(', ')}.`);
    const [is, what, as = name] = member;
    if (value === null) continue;
    if (!is(value)) failArgument(name, `expected ${what}.`);
    if (name === 'collectionName' && value !== params.collection)
      failArgument(name, `this address is for '${params.collection}': send the same name, or none.`);
    if (name !== 'collectionName') request[as] = name === 'operation' ? toOperation(value) : value;
  }
  return { ...(request as unknown as AggregateRequest), collection: params.collection! };
}

/** Returns `{columns, rows, hasMore, nextCursor?, note?}`. */
export async function runAggregate(request: AggregateRequest, call: DataCall): Promise<Answer> {
  const answer: AggregateAnswer = await call.engine.aggregate(call.access, request, toCallOptions(call));
  const { columns, rows, hasMore, note, cursorAfter } = answer;
  const nextCursor = hasMore && rows.length > 0 ? cursorAfter(rows.length - 1) : undefined;
  return { status: 200, body: { columns, rows, hasMore, ...(nextCursor && { nextCursor }), ...(note && { note }) } };
}
