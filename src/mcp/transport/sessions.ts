// Sessions for clients of revisions before 2026-07-28 that declare elicitation or sampling; only these need a lasting
// connection. A session belongs to the user and client that opened it. Its id is not a credential.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import type { AuthInfo, Server } from '@modelcontextprotocol/server';
import type { Clock } from '../../core/clock.ts';
import { randomToken } from '../../core/secret.ts';
import type { BuildServer } from '../server.ts';
import type { Identity } from '../tool-call.ts';
import { authInfoOf, identityOfHttp } from './identity.ts';

const IDLE_MS = 30 * 60_000;
const MAX_SESSIONS = 1000;
const MAX_SESSIONS_PER_USER = 50;

interface Session {
  readonly id: string;
  readonly owner: string;
  readonly transport: NodeStreamableHTTPServerTransport;
  readonly server: Server;
  /** Requests in progress, including the event stream of the session. */
  activeRequests: number;
  usedAt: number;
}

export interface Sessions {
  /** Whether an `initialize` with these params opens a session. */
  needsSession(params: unknown): boolean;
  open(req: IncomingMessage, res: ServerResponse, body: unknown, identity: Identity): Promise<void>;
  /** Serves a request of a session. False if this caller has no such session; the response is then 404. */
  serve(id: string, req: IncomingMessage, res: ServerResponse, body: unknown, identity: Identity): Promise<boolean>;
  notifyChange(): void;
  notifyToolChange(): void;
  close(): Promise<void>;
}

export function createSessions(build: BuildServer, clock: Clock): Sessions {
  const sessions = new Map<string, Session>();

  const sweep = () => {
    const now = clock.now();
    for (const session of sessions.values()) {
      if (session.activeRequests === 0 && now - session.usedAt > IDLE_MS) void session.transport.close();
    }
  };

  const evictSessions = (owner: string) => {
    sweep();
    const evictOldest = (some: Session[], max: number) => {
      if (some.length < max) return;
      // Evict idle sessions first: the client of a busy session is waiting for a response.
      const idle = some.filter((session) => session.activeRequests === 0);
      const oldest = (idle.length > 0 ? idle : some).reduce((a, b) => (a.usedAt <= b.usedAt ? a : b));
      sessions.delete(oldest.id);
      void oldest.transport.close();
    };
    evictOldest(
      [...sessions.values()].filter((session) => session.owner === owner),
      MAX_SESSIONS_PER_USER,
    );
    evictOldest([...sessions.values()], MAX_SESSIONS);
  };

  const handle = async (session: Session, req: IncomingMessage, res: ServerResponse, body: unknown, auth: AuthInfo) => {
    session.activeRequests++;
    session.usedAt = clock.now();
    res.once('close', () => {
      session.activeRequests--;
      session.usedAt = clock.now();
    });
    await session.transport.handleRequest(Object.assign(req, { auth }), res, body);
  };

  return {
    needsSession(params) {
      const capabilities = (params as { capabilities?: unknown } | null)?.capabilities;
      if (typeof capabilities !== 'object' || capabilities === null) return false;
      return 'elicitation' in capabilities || 'sampling' in capabilities;
    },
    async open(req, res, body, identity) {
      const owner = ownerOf(identity);
      evictSessions(owner);
      // MCP, security best practices: session ids are random and bound to the user, and never authenticate.
      const id = randomToken();
      const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: () => id });
      const server = build(identityOfHttp, true);
      const session: Session = { id, owner, transport, server, activeRequests: 0, usedAt: clock.now() };
      await server.connect(transport);
      const closed = transport.onclose;
      transport.onclose = () => {
        sessions.delete(id);
        closed?.();
      };
      sessions.set(id, session);
      await handle(session, req, res, body, authInfoOf(identity));
      if (res.statusCode >= 400) void transport.close();
    },
    async serve(id, req, res, body, identity) {
      const session = sessions.get(id);
      if (!session || session.owner !== ownerOf(identity)) return false;
      await handle(session, req, res, body, authInfoOf(identity));
      return true;
    },
    notifyToolChange() {
      for (const { server } of sessions.values()) void server.sendToolListChanged().catch(() => undefined);
    },
    notifyChange() {
      for (const { server } of sessions.values()) {
        const notifications = [
          server.sendToolListChanged(),
          server.sendResourceListChanged(),
          server.sendPromptListChanged(),
        ];
        // A client may disconnect while it is notified.
        void Promise.allSettled(notifications);
      }
    },
    async close() {
      await Promise.all([...sessions.values()].map((session) => session.transport.close()));
    },
  };
}

function ownerOf(identity: Identity): string {
  return `${identity.auth.userId}:${identity.auth.clientId}`;
}
