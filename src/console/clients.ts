// How to connect each MCP client to this server. The start page and the command line share this table.

interface Pasted {
  /** Noun phrase for the copy button, such as 'the command'. */
  readonly what: string;
  readonly text: (url: string) => string;
}

export interface ClientInstructions {
  readonly id: string;
  readonly name: string;
  /** Instruction for the text to paste. */
  readonly how: string;
  readonly pasted: readonly Pasted[];
  /** Opens the client with the server filled in. */
  readonly link?: (url: string) => string;
  /** Next step after pasting. */
  readonly afterwards: string;
  /** The client calls from its own servers, which cannot resolve a local hostname. */
  readonly requiresPublicUrl?: true;
}

const address: Pasted = { what: 'the address', text: (url) => url };
const command = (text: (url: string) => string): Pasted => ({ what: 'the command', text });
const signsIn = 'The sign-in page opens in your browser.';

export const clientInstructions: readonly ClientInstructions[] = [
  {
    id: 'claude-code',
    name: 'Claude Code',
    how: 'In a terminal:',
    pasted: [command((url) => `claude mcp add --transport http portico ${url}`)],
    afterwards: 'Then type /mcp in a session. The sign-in page opens in your browser.',
  },
  {
    id: 'claude',
    name: 'Claude (web, desktop, phone)',
    how: 'In Settings, Connectors, Add custom connector:',
    pasted: [address],
    afterwards: 'Press Connect there. The sign-in page opens in your browser.',
    requiresPublicUrl: true,
  },
  {
    id: 'chatgpt',
    name: 'ChatGPT',
    how: 'In Settings, Connectors, turn on developer mode, press Create, choose OAuth and paste the address:',
    pasted: [address],
    afterwards: signsIn,
    requiresPublicUrl: true,
  },
  {
    id: 'codex',
    name: 'Codex',
    how: 'In a terminal:',
    pasted: [command((url) => `codex mcp add portico --url ${url}`), command(() => 'codex mcp login portico')],
    afterwards: 'The second command opens the sign-in page in your browser.',
  },
  {
    id: 'vs-code',
    name: 'VS Code',
    how: 'In a terminal:',
    pasted: [command((url) => `code --add-mcp '${JSON.stringify({ name: 'portico', type: 'http', url })}'`)],
    link: (url) => `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: 'portico', type: 'http', url }))}`,
    afterwards: `Start it in the list of MCP servers. ${signsIn}`,
  },
  {
    id: 'cursor',
    name: 'Cursor',
    how: 'In .cursor/mcp.json of a project, or ~/.cursor/mcp.json:',
    pasted: [{ what: 'the text', text: (url) => JSON.stringify({ mcpServers: { portico: { type: 'http', url } } }) }],
    link: (url) =>
      `cursor://anysphere.cursor-deeplink/mcp/install?name=portico&config=${encodeURIComponent(btoa(JSON.stringify({ url })))}`,
    afterwards: `Turn it on in Settings, MCP. ${signsIn}`,
  },
  {
    id: 'gemini',
    name: 'Gemini CLI',
    how: 'In a terminal:',
    pasted: [command((url) => `gemini mcp add --transport http portico ${url}`)],
    afterwards: 'Then type /mcp auth portico in a session. The sign-in page opens in your browser.',
  },
  {
    id: 'inspector',
    name: 'MCP Inspector',
    how: 'Run this in a terminal. Then choose Streamable HTTP and paste the address:',
    pasted: [command(() => 'npx @modelcontextprotocol/inspector'), address],
    afterwards: 'Press Connect. The sign-in page opens in your browser.',
  },
  {
    id: 'other',
    name: 'Other clients',
    how: 'Any MCP client with HTTP and OAuth needs only this address:',
    pasted: [address],
    afterwards: 'It discovers the sign-in automatically. A program that cannot sign in uses a token.',
  },
];

/**
 * Whether servers on the internet can reach the URL: https, and a hostname other than localhost or a loopback address.
 */
export function isPublic(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' && !/^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
