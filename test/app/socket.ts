// Raw HTTP requests, for what `fetch` does not let a client send.
import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Line {
  readonly socket: Socket;
  send(text: string): void;
  /** All bytes until the server closes the connection. */
  readonly heard: Promise<string>;
}

export function openLine(url: string): Line {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  let text = '';
  const heard = new Promise<string>((resolve) => {
    socket.setEncoding('utf8').on('data', (chunk) => (text += chunk));
    // A reset after the answer also ends it.
    socket.on('error', () => undefined).on('close', () => resolve(text));
  });
  return { socket, send: (part) => socket.write(part), heard };
}

/** Sends one request on its own connection, with `Connection: close`. */
export async function sendRaw(
  url: string,
  start: string,
  headers: Readonly<Record<string, string>>,
  body = '',
): Promise<RawAnswer> {
  const line = openLine(url);
  const all = { Host: new URL(url).host, Connection: 'close', ...headers };
  line.send(`${start} HTTP/1.1\r\n${headerLines(all)}\r\n${body}`);
  return parseAnswer(await line.heard);
}

export function headerLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
}

/** The last answer in the text; interim answers (100) come before it. */
export function parseAnswer(text: string): RawAnswer {
  const start = text.lastIndexOf('HTTP/1.1 ');
  const [head = '', body = ''] = text.slice(start).split(/\r\n\r\n(.*)/s);
  const [first = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => line.split(/: *(.*)/s)).map(([name = '', value = '']) => [name.toLowerCase(), value]),
  );
  return { status: Number(first.split(' ')[1]), headers, body };
}
