// Reduces the chunks of compatible servers to the properties that they all have.
import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import type { AiCallDelta, AiChunk, AiDelta, AiFinishReason } from './definitions.ts';
import { finishOf } from './openai.ts';

/** TypeError for an invalid chunk, and for a stream that ends early. */
export async function* fromChunks(chunks: AsyncIterable<ChatCompletionChunk>): AsyncGenerator<AiChunk, void, void> {
  let isOver = false;
  for await (const chunk of chunks) {
    if (!Array.isArray(chunk?.choices)) throw new TypeError('the answer is not a stream of chat completion chunks');
    const { id, created, model, choices, usage } = chunk;
    const part = (choice: AiChunk['choices']): AiChunk => ({
      id,
      object: 'chat.completion.chunk',
      created,
      model,
      choices: choice,
    });
    const [choice] = choices;
    if (choice) {
      const finish: AiFinishReason | null = choice.finish_reason ? finishOf(choice.finish_reason) : null;
      isOver ||= finish !== null;
      yield part([{ index: 0, delta: toDelta(choice.delta ?? {}), finish_reason: finish }]);
    }
    if (usage) {
      const { prompt_tokens = 0, completion_tokens = 0 } = usage;
      yield {
        ...part([]),
        usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
      };
    }
  }
  if (!isOver) throw new TypeError('the stream ended before the answer was complete');
}

function toDelta({ role, content, refusal, tool_calls: calls }: ChatCompletionChunk.Choice.Delta): AiDelta {
  return {
    ...(role === 'assistant' && { role }),
    ...(typeof content === 'string' && { content }),
    ...(typeof refusal === 'string' && { refusal }),
    ...(calls?.length && { tool_calls: calls.map(toCallDelta) }),
  };
}

function toCallDelta(
  { index, id, function: called }: ChatCompletionChunk.Choice.Delta.ToolCall,
  at: number,
): AiCallDelta {
  const { name, arguments: text } = called ?? {};
  return {
    // Some servers send whole calls and omit the index.
    index: index ?? at,
    ...(id && { id, type: 'function' as const }),
    function: { ...(name && { name }), ...(typeof text === 'string' && { arguments: text }) },
  };
}
