// Converts the stream events of Anthropic to chunks of the chat-completions format. Anthropic numbers all blocks of a
// message; chunks number only the tool calls. A call without arguments is `{}` in chunks and empty in events.
import type { RawMessageStreamEvent } from '@anthropic-ai/sdk/resources/messages';
import { finishOf } from './anthropic.ts';
import type { AiChunk, AiDelta, AiFinishReason } from './definitions.ts';

interface Call {
  readonly index: number;
  hasArguments: boolean;
}

/** `created`: seconds since the epoch. TypeError for an invalid message, and for a stream that ends early. */
export async function* fromEvents(
  events: AsyncIterable<RawMessageStreamEvent>,
  created: number,
): AsyncGenerator<AiChunk, void, void> {
  let head = { id: '', object: 'chat.completion.chunk' as const, created, model: '' };
  let [prompt, completion] = [0, 0];
  let isOver = false;
  const calls = new Map<number, Call>();
  const part = (delta: AiDelta, finish: AiFinishReason | null = null): AiChunk => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  for await (const event of events) {
    switch (event?.type) {
      case 'message_start': {
        const { id, model, usage } = event.message;
        head = { ...head, id, model };
        prompt =
          (usage?.input_tokens ?? 0) +
          (usage?.cache_creation_input_tokens ?? 0) +
          (usage?.cache_read_input_tokens ?? 0);
        completion = usage?.output_tokens ?? 0;
        yield part({ role: 'assistant' });
        break;
      }
      case 'content_block_start': {
        const { content_block: block } = event;
        if (block.type === 'text' && block.text !== '') yield part({ content: block.text });
        if (block.type !== 'tool_use') break;
        const index = calls.size;
        calls.set(event.index, { index, hasArguments: false });
        yield part({
          tool_calls: [{ index, id: block.id, type: 'function', function: { name: block.name, arguments: '' } }],
        });
        break;
      }
      case 'content_block_delta': {
        const { delta } = event;
        if (delta.type === 'text_delta') yield part({ content: delta.text });
        const call = calls.get(event.index);
        if (delta.type !== 'input_json_delta' || !call || delta.partial_json === '') break;
        call.hasArguments = true;
        yield part({ tool_calls: [{ index: call.index, function: { arguments: delta.partial_json } }] });
        break;
      }
      case 'content_block_stop': {
        const call = calls.get(event.index);
        if (call && !call.hasArguments)
          yield part({ tool_calls: [{ index: call.index, function: { arguments: '{}' } }] });
        break;
      }
      case 'message_delta': {
        completion = event.usage?.output_tokens ?? completion;
        const { stop_reason: reason } = event.delta;
        if (reason === null) break;
        isOver = true;
        yield part({}, finishOf(reason));
        break;
      }
      default:
        break;
    }
  }
  if (!isOver) throw new TypeError('the stream ended before the message was complete');
  const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
  yield { ...head, choices: [], usage };
}
