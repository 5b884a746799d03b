// A mail server for tests: it keeps what it accepts. It speaks as much of RFC 5321 as a client needs, without TLS.
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** The header and the text, decoded from quoted-printable. */
  readonly content: string;
}

export interface MailServer {
  readonly port: number;
  readonly mails: ReceivedMail[];
  /** Everything that clients sent. */
  readonly lines: string[];
  /** Refuses recipients from now on, or not. */
  refuse(isRefusing: boolean): void;
  stop(): Promise<void>;
}

export async function startMailServer(): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const lines: string[] = [];
  const sockets = new Set<Socket>();
  let isRefusing = false;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    let [from, to, data, rest]: [string, string[], string[] | undefined, string] = ['', [], undefined, ''];
    const reply = (text: string) => socket.write(`${text}\r\n`);
    const addressOf = (line: string) => /<(.*?)>/.exec(line)?.[1] ?? '';
    const take = (line: string) => {
      lines.push(line);
      if (data) {
        if (line !== '.') return void data.push(line.replace(/^\.\./, '.'));
        mails.push({ from, to, content: decode(data.join('\n')) });
        [to, data] = [[], undefined];
        return reply('250 kept');
      }
      const verb = line.slice(0, 4).toUpperCase();
      if (verb === 'EHLO') return reply('250-test\r\n250 8BITMIME');
      if (verb === 'MAIL') [from, to] = [addressOf(line), []];
      else if (verb === 'RCPT' && isRefusing) return reply('550 nobody here');
      else if (verb === 'RCPT') to.push(addressOf(line));
      else if (verb === 'DATA') {
        data = [];
        return reply('354 go on');
      } else if (verb === 'QUIT') return void socket.end('221 bye\r\n');
      else if (verb !== 'RSET' && verb !== 'NOOP') return reply('502 not here');
      reply('250 yes');
    };
    socket.setEncoding('utf8').on('data', (chunk) => {
      const all = `${rest}${chunk}`.split('\r\n');
      rest = all.pop()!;
      for (const line of all) take(line);
    });
    reply('220 test');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    mails,
    lines,
    refuse(value) {
      isRefusing = value;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

/** Quoted-printable (RFC 2045 section 6.7). */
function decode(text: string): string {
  const bytes = text
    .replace(/=\n/g, '')
    .replace(/=([\dA-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
