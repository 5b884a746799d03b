// A tool call that returns the text of the result, as most tests need it.
import { legacy, type McpTestServer, post } from './mcp-server.ts';

/** The only text block; for an error result it begins with the code. */
export async function ask(
  server: Pick<McpTestServer, 'url'>,
  tool: string,
  given: Record<string, unknown>,
  token = 'user-2',
): Promise<string> {
  const { body } = await post(server, legacy('tools/call', { name: tool, arguments: given }), {
    authorization: `Bearer ${token}`,
  });
  const { content } = (body as { result: { content: { type: string; text: string }[] } }).result;
  if (content.length !== 1 || content[0]!.type !== 'text') throw new Error(`not one text: ${JSON.stringify(body)}`);
  return content[0]!.text;
}
