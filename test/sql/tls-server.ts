// A TLS proxy for the test database servers. It forwards encrypted client traffic to the server in plain text. It is
// reached at `localhost` and creates its own certificate.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import type { Dialect } from '../databases.ts';

export interface TlsServer {
  readonly url: string;
  /** The CA of its certificate, PEM. */
  readonly ca: string;
  /** The number of connections encrypted so far. */
  encrypted(): number;
  close(): Promise<void>;
}

/** `secure` upgrades the connection to TLS and returns the decrypted stream. */
type Serve = (client: Socket, server: Socket, secure: () => TLSSocket) => void;

const serves: Readonly<Record<Exclude<Dialect, 'sqlite'>, Serve>> = { postgres: servePostgres, mariadb: serveMariadb };

/** `name`: the host name in its certificate. */
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

/** A client that wants TLS requests it in its first message, and waits for a one-letter reply. */
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
 * The server's greeting lists its capabilities. A client that wants TLS first sends a short packet that the real server
 * never sees. Packets are numbered, so until the login is complete, the client's numbers are one ahead.
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
        // OK: from now on the numbering starts at zero for every statement.
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
