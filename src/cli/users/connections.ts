// `portico apps`: lists and revokes connected apps, and blocks clients. A server on the same storage applies changes
// with the next call.
import type { Config } from '../../core/config.ts';
import { fail } from '../../core/errors.ts';
import { clientLabel } from '../../oauth/clients/display-name.ts';
import { type Connection, findConnections } from '../../oauth/consent/connection.ts';
import { withStore } from '../storage.ts';
import { alignColumns, createPaint } from '../terminal.ts';

const MAX_CONNECTIONS = 10_000;

export async function listApps(config: Config, { user }: { readonly user?: string }): Promise<void> {
  await withStore(config, async (store) => {
    const users = new Map((await store.identity.listUsers()).map(({ id, email }) => [id, email]));
    const selectedUser = user === undefined ? undefined : await store.identity.findUserByEmail(user);
    if (user !== undefined && !selectedUser)
      fail('INVALID_ARGUMENT', { argument: '--user', problem: `no user has the address '${user}'.` });
    const connections = await findConnections(store, {
      ...(selectedUser && { userId: selectedUser.id }),
      limit: MAX_CONNECTIONS,
    });
    if (connections.length === 0) printLine('No app is connected.');
    else {
      const heads = ['ID', 'APP', 'CLIENT', 'USER', 'SCOPES', 'LIMITS', 'SINCE', 'LAST USED', 'ENDS'];
      const rows = connections.map((one) => [
        one.id,
        plain(clientLabel(one.clientId, one.clientName)),
        plain(one.clientId),
        users.get(one.userId) ?? `user ${one.userId}`,
        one.scopes.join(','),
        limitsText(one),
        showTime(one.createdAt),
        one.lastUsedAt === null ? 'never' : showTime(one.lastUsedAt),
        one.limits.endsAt === null ? 'never' : showTime(one.limits.endsAt),
      ]);
      printTable([heads, ...rows]);
    }
    const blocked = user === undefined ? await store.connections.listBlocked() : [];
    if (blocked.length === 0) return;
    printLine('');
    printTable([['BLOCKED', 'SINCE'], ...blocked.map(({ clientId, since }) => [plain(clientId), showTime(since)])]);
  });
}

export async function revokeApp(config: Config, id: string): Promise<void> {
  await withStore(config, async (store) => {
    const [connection] = await findConnections(store, { id, limit: 1 });
    const clientName = connection && clientLabel(connection.clientId, connection.clientName);
    if (!connection || !clientName || !(await store.connections.end({ id, clientName }))) {
      const problem = `there is no connection '${id}'. 'portico apps list' shows the ids.`;
      fail('INVALID_ARGUMENT', { argument: 'id', problem });
    }
    const user = await store.identity.findUser(connection.userId);
    printLine(
      `${plain(clientName)} of ${user?.email ?? `user ${connection.userId}`} is disconnected: its access ends immediately.`,
    );
  });
}

export async function blockApp(config: Config, clientId: string): Promise<void> {
  await withStore(config, async (store) => {
    const ended = await store.connections.block({ clientId: checkClient(clientId) });
    if (ended === undefined) return printLine(`${clientId} is already blocked.`);
    const connections = `${ended} ${ended === 1 ? 'connection' : 'connections'}`;
    printLine(`${clientId} is blocked: new sign-ins are rejected, and ${connections} ended.`);
  });
}

export async function unblockApp(config: Config, clientId: string): Promise<void> {
  await withStore(config, async (store) => {
    if (!(await store.connections.unblock({ clientId: checkClient(clientId) }))) {
      const problem = `'${clientId}' is not blocked. 'portico apps list' shows the blocked apps.`;
      fail('INVALID_ARGUMENT', { argument: 'client_id', problem });
    }
    printLine(`${clientId} may request access again. Ended connections stay ended.`);
  });
}

function checkClient(clientId: string): string {
  if (clientId.trim() !== clientId || clientId === '' || clientId.length > 2000) {
    const problem = "expected the id of a client, as 'portico apps list' shows it.";
    fail('INVALID_ARGUMENT', { argument: 'client_id', problem });
  }
  return clientId;
}

function limitsText({ limits: { readOnly, collections } }: Connection): string {
  const parts = [readOnly && 'read-only', collections && `collections=${collections.join(',')}`];
  return plain(parts.filter(Boolean).join(' ') || '-');
}

/** Removes control characters that a client could use to manipulate the terminal. */
const plain = (text: string): string => text.replace(/\p{C}/gu, '');

const showTime = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

function printTable(rows: readonly (readonly string[])[]): void {
  const [heads, ...lines] = alignColumns(rows);
  printLine(createPaint(process.stdout)('dim', heads!));
  for (const line of lines) printLine(line);
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}
