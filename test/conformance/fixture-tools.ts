// The tools that the official conformance suite calls by name, implemented as it describes them.
import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type ContentBlock,
  type ElicitRequestFormParams,
  type InputRequests,
  inputRequired,
  inputResponse,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { systemClock } from '../../src/core/clock.ts';
import { randomToken, sign, timingSafeEqualText } from '../../src/core/secret.ts';
import type { ExtraTool } from '../../src/mcp/server.ts';

export const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const wav = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==';

const text = (...lines: string[]): CallToolResult => ({
  content: lines.map((line): ContentBlock => ({ type: 'text', text: line })),
});

type Run = ExtraTool['run'];

function tool(name: string, run: Run, inputSchema: Record<string, unknown> = { type: 'object' }): ExtraTool {
  return {
    definition: { name, description: `Conformance fixture ${name}`, inputSchema: inputSchema as { type: 'object' } },
    run,
  };
}

const capabilitiesOf = (ctx: ServerContext): ClientCapabilities =>
  ((ctx.mcpReq.envelope as Record<string, unknown> | undefined)?.[CLIENT_CAPABILITIES_META_KEY] ??
    {}) as ClientCapabilities;

const form = (message: string, properties: Record<string, unknown>, required = Object.keys(properties)) =>
  ({ message, requestedSchema: { type: 'object', properties, required } }) as ElicitRequestFormParams;

// Signs states, as a server must, because clients can change the states that they send back.
const key = randomToken();
const seal = (state: string): string => `${state}.${sign(state, key)}`;
function unseal(ctx: ServerContext): string | undefined {
  const sealed = ctx.mcpReq.requestState();
  if (sealed === undefined) return undefined;
  const given = String(sealed);
  const state = given.slice(0, Math.max(0, given.lastIndexOf('.')));
  if (!timingSafeEqualText(seal(state), given))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Tampered requestState');
  return state;
}

const withPause = async (ctx: ServerContext, step: (n: number) => Promise<void>) => {
  for (let n = 0; n < 3; n++) {
    if (n > 0) await systemClock.sleep(50, ctx.mcpReq.signal);
    await step(n);
  }
};

const name = form('What is your name?', { name: { type: 'string' } });
const capital = {
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'What is the capital of France?' } }],
  maxTokens: 100,
};

const elicit =
  (schema: Record<string, unknown>): Run =>
  async (_params, ctx) => {
    const answer = await ctx.mcpReq.elicitInput(form('Please fill in the form', schema, []));
    return text(`Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`);
  };

const contentTools: readonly ExtraTool[] = [
  tool('test_simple_text', async () => text('This is a simple text response for testing.')),
  tool('test_image_content', async () => ({ content: [{ type: 'image', data: png, mimeType: 'image/png' }] })),
  tool('test_audio_content', async () => ({ content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }] })),
  tool('test_embedded_resource', async () => ({
    content: [
      {
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      },
    ],
  })),
  tool('test_multiple_content_types', async () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: png, mimeType: 'image/png' },
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: JSON.stringify({ test: 'data', value: 123 }),
        },
      },
    ],
  })),
  tool('test_error_handling', async () => ({
    ...text('This tool intentionally returns an error for testing'),
    isError: true,
  })),
  tool('json_schema_2020_12_tool', async (params) => text(JSON.stringify(params.arguments ?? {})), {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: {
      address: {
        $anchor: 'addressDef',
        type: 'object',
        properties: { street: { type: 'string' }, city: { type: 'string' } },
      },
    },
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: { type: 'string' },
      email: { type: 'string' },
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    // biome-ignore lint/suspicious/noThenProperty: a JSON Schema keyword
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
  }),
];

const streamTools: readonly ExtraTool[] = [
  tool('test_tool_with_logging', async (_params, ctx) => {
    const lines = ['Tool execution started', 'Tool processing data', 'Tool execution completed'];
    await withPause(ctx, (n) => ctx.mcpReq.log('info', lines[n]));
    return text('Logged three times.');
  }),
  tool('test_logging_tool', async (_params, ctx) => {
    await ctx.mcpReq.log('info', 'Only for clients that asked for it');
    return text('Logged once.');
  }),
  tool('test_tool_with_progress', async (_params, ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    await withPause(ctx, async (n) => {
      if (progressToken === undefined) return;
      const params = { progressToken, progress: n * 50, total: 100 };
      await ctx.mcpReq.notify({ method: 'notifications/progress', params });
    });
    return text('Progress reported.');
  }),
  tool('test_reconnection', async (_params, ctx) => {
    await systemClock.sleep(100, ctx.mcpReq.signal);
    return text('Still here.');
  }),
  tool('test_trigger_tool_change', async (_params, _ctx, notify) => {
    notify.toolsChanged();
    return text('Said that the tools changed.');
  }),
  tool('test_trigger_prompt_change', async (_params, _ctx, notify) => {
    notify.promptsChanged();
    return text('Said that the prompts changed.');
  }),
];

const askingTools: readonly ExtraTool[] = [
  tool('test_sampling', async (params, ctx) => {
    const { prompt } = params.arguments as { prompt: string };
    const answer = await ctx.mcpReq.requestSampling({
      messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
      maxTokens: 100,
    });
    return text(`LLM response: ${(answer.content as { text?: string }).text ?? ''}`);
  }),
  tool('test_elicitation', async (params, ctx) => {
    const { message } = params.arguments as { message: string };
    const fields = {
      username: { type: 'string', description: "User's response" },
      email: { type: 'string', description: "User's email address" },
    };
    const answer = await ctx.mcpReq.elicitInput(form(message, fields));
    return text(`User response: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`);
  }),
  tool(
    'test_elicitation_sep1034_defaults',
    elicit({
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    }),
  ),
  tool(
    'test_elicitation_sep1330_enums',
    elicit({
      untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
      titledSingle: {
        type: 'string',
        oneOf: [
          { const: 'value1', title: 'First Option' },
          { const: 'value2', title: 'Second Option' },
          { const: 'value3', title: 'Third Option' },
        ],
      },
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
      titledMulti: {
        type: 'array',
        items: {
          anyOf: [
            { const: 'value1', title: 'First Choice' },
            { const: 'value2', title: 'Second Choice' },
            { const: 'value3', title: 'Third Choice' },
          ],
        },
      },
    }),
  ),
  tool('test_missing_capability', async (_params, ctx) => {
    if (!capabilitiesOf(ctx).sampling) {
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
    }
    return text('The client can sample.');
  }),
];

const inputTools: readonly ExtraTool[] = [
  tool('test_streaming_elicitation', async (_params, ctx) => {
    if (acceptedContent(ctx.mcpReq.inputResponses, 'user_name')) return text('Done.');
    return inputRequired({ inputRequests: { user_name: inputRequired.elicit(name) } });
  }),
  tool('test_input_required_result_elicitation', async (_params, ctx) => {
    const answer = acceptedContent<{ name?: unknown }>(ctx.mcpReq.inputResponses, 'user_name');
    if (typeof answer?.name === 'string') return text(`Hello, ${answer.name}!`);
    return inputRequired({ inputRequests: { user_name: inputRequired.elicit(name) } });
  }),
  tool('test_input_required_result_sampling', async (_params, ctx) => {
    const answer = inputResponse(ctx.mcpReq.inputResponses, 'capital_question');
    if (answer.kind === 'sampling') return text(JSON.stringify(answer.result.content));
    return inputRequired({ inputRequests: { capital_question: inputRequired.createMessage(capital) } });
  }),
  tool('test_input_required_result_list_roots', async (_params, ctx) => {
    const answer = inputResponse(ctx.mcpReq.inputResponses, 'client_roots');
    if (answer.kind === 'roots') return text(`Roots: ${answer.roots.map((root) => root.uri).join(', ')}`);
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  }),
  tool('test_input_required_result_request_state', async (_params, ctx) => {
    const confirmed = acceptedContent(ctx.mcpReq.inputResponses, 'confirm');
    if (unseal(ctx) === 'confirming' && confirmed) return text('state-ok');
    return confirmation();
  }),
  tool('test_input_required_result_tampered_state', async (_params, ctx) => {
    if (unseal(ctx) === 'confirming') return text('state-ok');
    return confirmation();
  }),
  tool('test_input_required_result_multiple_inputs', async (_params, ctx) => {
    const keys = ['user_name', 'greeting', 'client_roots'];
    const given = keys.filter((one) => inputResponse(ctx.mcpReq.inputResponses, one).kind !== 'missing');
    if (unseal(ctx) === 'several' && given.length === keys.length) return text(`Got ${given.join(', ')}.`);
    const greeting = { type: 'text' as const, text: 'Generate a greeting' };
    return inputRequired({
      inputRequests: {
        user_name: inputRequired.elicit(name),
        greeting: inputRequired.createMessage({ messages: [{ role: 'user', content: greeting }], maxTokens: 50 }),
        client_roots: inputRequired.listRoots(),
      },
      requestState: seal('several'),
    });
  }),
  tool('test_input_required_result_multi_round', async (_params, ctx) => {
    const state = unseal(ctx);
    const responses = ctx.mcpReq.inputResponses;
    if (state === 'round 2' && acceptedContent(responses, 'step2')) return text('Both steps are done.');
    if (state === 'round 1' && acceptedContent(responses, 'step1')) {
      const color = form('Step 2: What is your favorite color?', { color: { type: 'string' } });
      return inputRequired({ inputRequests: { step2: inputRequired.elicit(color) }, requestState: seal('round 2') });
    }
    const step1 = form('Step 1: What is your name?', { name: { type: 'string' } });
    return inputRequired({ inputRequests: { step1: inputRequired.elicit(step1) }, requestState: seal('round 1') });
  }),
  tool('test_input_required_result_capabilities', async (_params, ctx) => {
    const declared = capabilitiesOf(ctx);
    const inputRequests: InputRequests = {
      ...(declared.sampling && { capital_question: inputRequired.createMessage(capital) }),
      ...(declared.elicitation && { user_name: inputRequired.elicit(name) }),
    };
    return Object.keys(inputRequests).length > 0 ? inputRequired({ inputRequests }) : text('Nothing can be asked.');
  }),
];

function confirmation() {
  const ok = form('Please confirm', { ok: { type: 'boolean' } });
  return inputRequired({ inputRequests: { confirm: inputRequired.elicit(ok) }, requestState: seal('confirming') });
}

export const fixtureTools: readonly ExtraTool[] = [...contentTools, ...streamTools, ...askingTools, ...inputTools];
