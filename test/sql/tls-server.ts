// A database server with TLS: what comes in encrypted goes on, in the clear, to the server that the tests have. It is
// reached at `localhost`, and its certificate is its own.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import type { Dialect } from '../databases.ts';

export interface TlsServer {
  readonly url: string;
  /** The authority of its certificate, PEM. */
  readonly ca: string;
  /** How many connections have been encrypted. */
  encrypted(): number;
  close(): Promise<void>;
}

/** `secure` makes the rest of a connection encrypted, and gives what is inside. */
type Serve = (client: Socket, server: Socket, secure: () => TLSSocket) => void;

const serves: Readonly<Record<Exclude<Dialect, 'sqlite'>, Serve>> = { postgres: servePostgres, mariadb: serveMariadb };

/** `name`: what its certificate is for. */
export async function openTlsServer(dialect: keyof typeof serves, url: string, name: string): Promise<TlsServer> {
  const { cert, key } = makeCertificate(name);
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let encrypted = 0;
  const listener = createServer((client) => {
    const server = connect(Number(port || (dialect === 'postgres' ? 5432 : 3306)), hostname);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    serves[dialect](client, server, () => {
      const inside = new TLSSocket(client, { isServer: true, cert, key });
      inside.on('error', () => client.destroy());
      inside.on('secure', () => encrypted++);
      return inside;
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const own = new URL(url);
  own.hostname = 'localhost';
  own.port = String((listener.address() as AddressInfo).port);
  return {
    url: own.href,
    ca: cert,
    encrypted: () => encrypted,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

/** A client that wants TLS asks for it with its first message, and waits for one letter. */
function servePostgres(client: Socket, server: Socket, secure: () => TLSSocket): void {
  const TLS_REQUEST = 80_877_103;
  client.once('data', (first: Buffer) => {
    client.pause();
    if (first.length === 8 && first.readInt32BE(4) === TLS_REQUEST) {
      client.write('S');
      pipe(secure(), server);
    } else {
      client.unshift(first);
      pipe(client, server);
    }
  });
}

const CLIENT_SSL = 0x0800;
const TLS_REQUEST_LENGTH = 32;

/**
 * The server greets, with what it can do. A client that wants TLS answers with a short packet first, which the server
 * behind never sees: packets are numbered, so until it has let the client in, the numbers of the one are one ahead.
 */
function serveMariadb(client: Socket, server: Socket, secure: () => TLSSocket): void {
  server.once('data', (greeting: Buffer) => {
    server.pause();
    // Header, protocol, version and its NUL, thread, first part of the salt, a NUL.
    const capabilities = greeting.indexOf(0, 5) + 1 + 4 + 8 + 1;
    greeting.writeUInt16LE(greeting.readUInt16LE(capabilities) | CLIENT_SSL, capabilities);
    client.write(greeting);
    client.once('data', (first: Buffer) => {
      client.pause();
      if (first.readUIntLE(0, 3) !== TLS_REQUEST_LENGTH) {
        client.unshift(first);
        pipe(client, server);
        return;
      }
      if (first.length > TLS_REQUEST_LENGTH + 4) client.unshift(first.subarray(TLS_REQUEST_LENGTH + 4));
      const inside = secure();
      let isFirst = true;
      const toServer = (packet: Buffer) => {
        packet[3]!--;
        if (isFirst) packet.writeUInt16LE(packet.readUInt16LE(4) & ~CLIENT_SSL, 4);
        isFirst = false;
        server.write(packet);
      };
      const toClient = (packet: Buffer) => {
        packet[3]!++;
        inside.write(packet);
        // OK: from now on every statement counts from zero.
        if (packet[4] !== 0) return;
        inside.removeAllListeners('data');
        server.removeAllListeners('data');
        pipe(inside, server);
      };
      inside.on('data', eachPacket(toServer));
      server.on('data', eachPacket(toClient));
      server.resume();
    });
  });
}

function eachPacket(take: (packet: Buffer) => void): (data: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (data) => {
    rest = Buffer.concat([rest, data]);
    while (rest.length >= 4 && rest.length >= rest.readUIntLE(0, 3) + 4) {
      const length = rest.readUIntLE(0, 3) + 4;
      take(Buffer.from(rest.subarray(0, length)));
      rest = rest.subarray(length);
    }
  };
}

function pipe(client: Socket, server: Socket): void {
  client.pipe(server);
  server.pipe(client);
}

function makeCertificate(name: string): { readonly cert: string; readonly key: string } {
  const folder = mkdtempSync(join(tmpdir(), 'portico-tls-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
  execFileSync('openssl', ['req', '-x509', ...kind, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  const made = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
  rmSync(folder, { recursive: true });
  return made;
}
