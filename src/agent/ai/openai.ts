// The chat-completions format. Requests are sent unchanged; answers are reduced to the properties that all compatible
// servers have.
import type {
  ChatCompletion,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import type { AiAnswer, AiFinishReason, AiRequest, AiToolCall } from './definitions.ts';

/** `request` has been checked. */
export function toCompletion(request: AiRequest, model: string): ChatCompletionCreateParamsNonStreaming {
  const { messages, ...rest } = structuredClone(request) as Omit<
    ChatCompletionCreateParamsNonStreaming,
    'model' | 'messages'
  > & { messages: ChatCompletionMessageParam[] };
  return { ...rest, messages, model };
}

const finishReasons: readonly string[] = ['stop', 'length', 'tool_calls', 'content_filter'];

/** Compatible servers use further values for a normal end. */
export function finishOf(reason: string): AiFinishReason {
  return finishReasons.includes(reason) ? (reason as AiFinishReason) : 'stop';
}

/** TypeError for an invalid completion. */
export function fromCompletion(completion: ChatCompletion): AiAnswer {
  const [choice] = completion?.choices ?? [];
  if (!choice?.message) throw new TypeError('the answer is not a chat completion');
  const { message, finish_reason: reason } = choice;
  const calls = (message.tool_calls ?? []).flatMap((call): AiToolCall[] =>
    call.type === 'function'
      ? [{ id: call.id, type: 'function', function: { name: call.function.name, arguments: call.function.arguments } }]
      : [],
  );
  const { prompt_tokens = 0, completion_tokens = 0 } = completion.usage ?? {};
  return {
    id: completion.id,
    object: 'chat.completion',
    created: completion.created,
    model: completion.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: message.content ?? null,
          refusal: message.refusal ?? null,
          ...(calls.length && { tool_calls: calls }),
        },
        finish_reason: finishOf(reason),
      },
    ],
    usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
  };
}
