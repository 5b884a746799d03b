// One tool call, as most tests make it: the text of its answer.
import { type House, legacy, post } from './house.ts';

/** The one text block; an error result as it is, which begins with its code. */
export async function ask(
  house: Pick<House, 'url'>,
  tool: string,
  given: Record<string, unknown>,
  token = 'user-2',
): Promise<string> {
  const { body } = await post(house, legacy('tools/call', { name: tool, arguments: given }), {
    authorization: `Bearer ${token}`,
  });
  const { content } = (body as { result: { content: { type: string; text: string }[] } }).result;
  if (content.length !== 1 || content[0]!.type !== 'text') throw new Error(`not one text: ${JSON.stringify(body)}`);
  return content[0]!.text;
}
