// Converts requests from the chat-completions format to Anthropic's Messages format, and answers back. The differences:
// system texts are separate, tool results are blocks of a user message, and roles alternate. The maximum length is
// required, and sampling settings do not exist (since API version 2026-10-21, which the client uses).
import type { Message, MessageCreateParamsNonStreaming, MessageParam } from '@anthropic-ai/sdk/resources/messages';
import { fail } from '../../core/errors.ts';
import type {
  AiAnswer,
  AiContent,
  AiFinishReason,
  AiMessage,
  AiRequest,
  AiToolCall,
  AiToolChoice,
} from './definitions.ts';

const DEFAULT_MAX_TOKENS = 4096;

type Block = Exclude<MessageParam['content'], string>[number];

/** `request` has been checked. INVALID_ARGUMENT for the format `json_object`, which Anthropic does not support. */
export function toMessages(request: AiRequest, model: string): MessageCreateParamsNonStreaming {
  const { tools, tool_choice: choice = 'auto', stop, response_format: format } = request;
  const system = request.messages
    .filter(({ role }) => role === 'system' || role === 'developer')
    .map(({ content }) => textOf(content))
    .join('\n\n');
  if (format?.type === 'json_object')
    fail('INVALID_ARGUMENT', {
      argument: 'response_format',
      problem: "anthropic does not support 'json_object'. Describe the answer with 'json_schema'.",
    });
  return {
    model,
    max_tokens: request.max_completion_tokens ?? request.max_tokens ?? DEFAULT_MAX_TOKENS,
    messages: turnsOf(request.messages),
    ...(system && { system }),
    ...(stop !== undefined && { stop_sequences: typeof stop === 'string' ? [stop] : [...stop] }),
    ...(format?.type === 'json_schema' && {
      output_config: { format: { type: 'json_schema', schema: format.json_schema.schema } },
    }),
    ...(tools && {
      tools: tools.map(({ function: { name, description, parameters, strict } }) => ({
        name,
        ...(description !== undefined && { description }),
        ...(strict !== undefined && { strict }),
        input_schema: { properties: {}, ...parameters, type: 'object' },
      })),
      tool_choice: choose(choice, request.parallel_tool_calls),
    }),
  };
}

/** Merges consecutive messages of the same role, and drops empty messages. */
function turnsOf(messages: readonly AiMessage[]): MessageParam[] {
  const turns: { role: 'user' | 'assistant'; content: Block[] }[] = [];
  for (const message of messages) {
    if (message.role === 'system' || message.role === 'developer') continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const blocks = blocksOf(message);
    if (blocks.length === 0) continue;
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else turns.push({ role, content: blocks });
  }
  return turns;
}

function blocksOf(message: AiMessage): Block[] {
  const text = textOf(message.content);
  if (message.role === 'tool')
    return [{ type: 'tool_result', tool_use_id: message.tool_call_id, ...(text && { content: text }) }];
  const textBlocks: Block[] = text.trim() ? [{ type: 'text', text }] : [];
  if (message.role !== 'assistant') return textBlocks;
  const calls = message.tool_calls ?? [];
  return [
    ...textBlocks,
    ...calls.map(({ id, function: { name, arguments: input } }): Block => {
      return { type: 'tool_use', id, name, input: JSON.parse(input) as unknown };
    }),
  ];
}

function textOf(content: AiContent | null | undefined): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map(({ text }) => text).join('');
}

type Choice = NonNullable<MessageCreateParamsNonStreaming['tool_choice']>;

function choose(choice: AiToolChoice, parallel = true): Choice {
  if (choice === 'none') return { type: 'none' };
  const one = parallel ? {} : { disable_parallel_tool_use: true };
  if (typeof choice === 'object') return { type: 'tool', name: choice.function.name, ...one };
  return { type: choice === 'required' ? 'any' : 'auto', ...one };
}

const finishReasons: Readonly<Record<string, AiFinishReason>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

export const finishOf = (reason: string | null): AiFinishReason => finishReasons[reason ?? ''] ?? 'stop';

/** `created`: seconds since the epoch. TypeError for an invalid message. */
export function fromMessages(message: Message, created: number): AiAnswer {
  if (!Array.isArray(message?.content)) throw new TypeError('the answer is not a message');
  const { id, model, content, stop_reason: reason, usage } = message;
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  const calls = content.flatMap((block): AiToolCall[] =>
    block.type === 'tool_use'
      ? [{ id: block.id, type: 'function', function: { name: block.name, arguments: JSON.stringify(block.input) } }]
      : [],
  );
  const prompt =
    (usage?.input_tokens ?? 0) + (usage?.cache_creation_input_tokens ?? 0) + (usage?.cache_read_input_tokens ?? 0);
  const completion = usage?.output_tokens ?? 0;
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: texts.length ? texts.join('') : null,
          refusal: null,
          ...(calls.length && { tool_calls: calls }),
        },
        finish_reason: finishOf(reason),
      },
    ],
    usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
  };
}
