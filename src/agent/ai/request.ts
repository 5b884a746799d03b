// Checks a request in the chat-completions format before sending. Providers would reject an invalid request with their
// own message, or ignore parts of it. The error names the position and the expected value. The result contains only
// checked properties.
import { fail } from '../../core/errors.ts';
import { suggestNames } from '../../core/suggestions.ts';
import type { AiMessage, AiRequest, AiTool, AiToolCall } from './definitions.ts';

type Values = Readonly<Record<string, unknown>>;
type Check = (value: unknown, at: string) => unknown;

export function checkRequest(given: unknown): AiRequest {
  const request = readObject(given, 'request', requestChecks);
  const { messages, tools, tool_choice: choice } = request as unknown as AiRequest;
  checkOrder(messages);
  if (choice !== undefined && choice !== 'none' && !tools) refuse('tool_choice', 'there are no tools to choose from.');
  if (typeof choice === 'object') {
    const names = (tools ?? []).map((tool) => tool.function.name);
    const { name } = choice.function;
    if (!names.includes(name))
      refuse('tool_choice', `there is no tool '${name}'.${nearText(suggestNames(name, names)) || ` Known: ${names}.`}`);
  }
  return request as unknown as AiRequest;
}

/** Requires a message of the user or of a tool. A tool message must answer an earlier call. */
function checkOrder(messages: readonly AiMessage[]): void {
  if (!messages.some(({ role }) => role === 'user' || role === 'tool'))
    refuse('messages', "expected at least one message of the role 'user'.");
  const called = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message.role === 'assistant') for (const { id } of message.tool_calls ?? []) called.add(id);
    if (message.role === 'tool' && !called.has(message.tool_call_id))
      refuse(`messages[${index}].tool_call_id`, 'expected the id of a tool call in an earlier assistant message.');
  }
}

const refuse = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });
const nearText = (near: readonly string[]): string => (near.length ? ` Near: ${near.join(', ')}.` : '');

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Accepts values that pass `takes`; otherwise the error shows `expected`. */
function checkWith(expected: string, takes: (value: unknown) => boolean): Check {
  return (value, at) => (takes(value) ? value : refuse(at, `expected ${expected}.`));
}

const oneOf = (...values: readonly string[]): Check =>
  checkWith(values.map((value) => `'${value}'`).join(' or '), (value) => values.includes(value as string));

const checkRange = (from: number, to: number): Check =>
  checkWith(`a number from ${from} to ${to}`, (value) => typeof value === 'number' && value >= from && value <= to);

function list(expected: string, each: Check, most = Number.POSITIVE_INFINITY): Check {
  return (value, at) =>
    Array.isArray(value) && value.length > 0 && value.length <= most
      ? value.map((item, index) => each(item, `${at}[${index}]`))
      : refuse(at, `expected ${expected}.`);
}

const object =
  (checks: Readonly<Record<string, Check>>, ...required: readonly string[]): Check =>
  (value, at) =>
    readObject(value, at, checks, required);

/** Treats undefined properties as absent. INVALID_ARGUMENT for an unknown property. */
function readObject(
  value: unknown,
  at: string,
  checks: Readonly<Record<string, Check>>,
  required: readonly string[] = ['messages'],
): Values {
  if (!isObject(value)) return refuse(at, `expected an object with ${Object.keys(checks).join(', ')}.`);
  const known = Object.keys(checks);
  const path = (name: string) => (at === 'request' ? name : `${at}.${name}`);
  const read: Record<string, unknown> = {};
  for (const name of required) if (value[name] === undefined) refuse(path(name), 'is missing.');
  for (const [name, given] of Object.entries(value)) {
    if (given === undefined) continue;
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check) read[name] = check(given, path(name));
    else refuse(path(name), `is unknown.${nearText(suggestNames(name, known)) || ` Known: ${known.join(', ')}.`}`);
  }
  return read;
}

const text = checkWith('a non-empty string', (value) => typeof value === 'string' && value !== '');
const anyText = checkWith('a string', (value) => typeof value === 'string');
const flag = checkWith('true or false', (value) => typeof value === 'boolean');
const count = checkWith('a whole number from 1', (value) => Number.isInteger(value) && (value as number) > 0);
const toolName = checkWith("a name of letters, digits, '_' and '-', at most 64", (value) =>
  typeof value === 'string' ? /^[\w-]{1,64}$/.test(value) : false,
);
const jsonSchema = checkWith('a JSON schema, an object', isObject);
const isFunction = oneOf('function');

const parts = list(
  "a string, or a list of { type: 'text', text }",
  object({ type: oneOf('text'), text: anyText }, 'type', 'text'),
);
const content: Check = (value, at) => (typeof value === 'string' ? value : parts(value, at));

const jsonObject: Check = (value, at) => {
  try {
    if (typeof value === 'string' && isObject(JSON.parse(value))) return value;
  } catch {
    // Refused below, like JSON of other types.
  }
  return refuse(at, 'expected a JSON object as a string.');
};

const toolCall = object(
  { id: text, type: isFunction, function: object({ name: toolName, arguments: jsonObject }, 'name', 'arguments') },
  'id',
  'type',
  'function',
) as (value: unknown, at: string) => AiToolCall;

const textMessage = object({ role: anyText, content }, 'role', 'content');
const assistant = object(
  {
    role: anyText,
    content: (value, at) => (value === null ? null : content(value, at)),
    tool_calls: list('a list of tool calls', toolCall),
    // Answers contain it.
    refusal: (value, at) => (value === null ? null : anyText(value, at)),
  },
  'role',
);

const messageChecks: Readonly<Record<AiMessage['role'], Check>> = {
  system: textMessage,
  developer: textMessage,
  user: textMessage,
  tool: object({ role: anyText, content, tool_call_id: text }, 'role', 'content', 'tool_call_id'),
  assistant(value, at) {
    const { refusal = null, content: given, ...message } = assistant(value, at) as Values;
    const text = given ?? refusal;
    if (text === null && !message.tool_calls) refuse(at, "expected 'content', 'tool_calls', or both.");
    return { ...message, content: text };
  },
};
const roles = oneOf(...Object.keys(messageChecks));

const message: Check = (value, at) => {
  if (!isObject(value)) return refuse(at, 'expected a message, such as { role: "user", content: "..." }.');
  const role = roles(value.role, `${at}.role`) as AiMessage['role'];
  return messageChecks[role](value, at);
};

const tool = object(
  {
    type: isFunction,
    function: object({ name: toolName, description: anyText, parameters: jsonSchema, strict: flag }, 'name'),
  },
  'type',
  'function',
);

const tools: Check = (value, at) => {
  const read = list('a non-empty list of tools; leave it out for no tools', tool)(value, at) as readonly AiTool[];
  const names = read.map((one) => one.function.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? read : refuse(at, `two tools have the name '${twice}'.`);
};

const chosenTool = object({ type: isFunction, function: object({ name: toolName }, 'name') }, 'type', 'function');

const formats: Readonly<Record<string, Check>> = {
  text: object({ type: text }),
  json_object: object({ type: text }),
  json_schema: object(
    {
      type: text,
      json_schema: object({ name: toolName, description: anyText, schema: jsonSchema, strict: flag }, 'name', 'schema'),
    },
    'json_schema',
  ),
};
const formatNames = oneOf(...Object.keys(formats));

const requestChecks: Readonly<Record<keyof AiRequest, Check>> = {
  messages: list('a non-empty list of messages', message),
  tools,
  tool_choice: (value, at) =>
    typeof value === 'object' ? chosenTool(value, at) : oneOf('auto', 'none', 'required')(value, at),
  parallel_tool_calls: flag,
  temperature: checkRange(0, 2),
  top_p: checkRange(0, 1),
  max_completion_tokens: count,
  max_tokens: count,
  stop: (value, at) =>
    typeof value === 'string' ? text(value, at) : list('a string, or a list of 1 to 4 strings', text, 4)(value, at),
  response_format(value, at) {
    if (!isObject(value)) return refuse(at, 'expected an object with a type.');
    return formats[formatNames(value.type, `${at}.type`) as string]!(value, at);
  },
};
