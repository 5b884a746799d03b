// Connections of several weeks for screenshots and accessibility checks, stored without sign-ins.
import type { Limits } from '../../src/oauth/consent/connection.ts';
import type { RemoteSignIn } from '../../src/store/remotes/types.ts';
import type { ConsoleTestServer } from './console-server.ts';

const day = 86_400_000;

interface Given {
  readonly userId: number;
  readonly clientId: string;
  readonly clientName: string;
  readonly returnsTo: { readonly kind: 'web' | 'device' | 'app'; readonly name: string };
  readonly scopes: string;
  readonly limits?: Partial<Limits>;
  readonly isUsed?: true;
}

export async function connectAll(server: ConsoleTestServer): Promise<void> {
  const bob = await server.addUser({ email: `bob${server.ada.id}@example.com`, firstName: 'Bob', lastName: 'Marsh' });
  const bobs = (await server.userOf(bob)).id;
  const claude = { clientId: 'https://claude.ai/oauth/client', clientName: 'Claude' } as const;
  const web = { kind: 'web', name: 'claude.ai' } as const;
  const all: readonly Given[] = [
    { userId: bobs, ...claude, returnsTo: web, scopes: 'mcp:read mcp:write', isUsed: true },
    {
      userId: server.ada.id,
      clientId: 'cursor-client',
      clientName: 'Cursor',
      returnsTo: { kind: 'app', name: 'cursor' },
      scopes: 'mcp:read',
      limits: { readOnly: true, endsAt: Date.now() + 21 * day },
    },
    {
      userId: server.ada.id,
      ...claude,
      returnsTo: web,
      scopes: 'mcp:read mcp:write mcp:action',
      limits: { collections: ['customers', 'orders'] },
      isUsed: true,
    },
  ];
  for (const [at, { userId, clientId, clientName, returnsTo, scopes, limits, isUsed }] of all.entries()) {
    const id = `grant-${at}`;
    await server.store.oauth.upsert({
      model: 'Grant',
      id,
      grantId: id,
      accountId: `${userId}`,
      clientId,
      expiresAt: Date.now() + 300 * day,
      payload: {
        accountId: `${userId}`,
        clientId,
        kind: 'Grant',
        resources: { [server.mcpUrl]: scopes },
        connection: { clientName, returnsTo, limits: { readOnly: false, collections: null, endsAt: null, ...limits } },
      },
    });
    if (isUsed) server.store.connections.noteUse(id);
  }
  await server.store.tokens.create({ userId: server.ada.id, name: 'Nightly report', scopes: ['mcp:read'] });
}

/** Remote servers of each kind. Ada has a connected account, one that must reconnect, and none at `archive`. */
export async function addRemotes({ store, ada }: ConsoleTestServer): Promise<void> {
  const add = (name: string, url: string, signIn: RemoteSignIn) =>
    store.remotes.add({ name, url, signIn, addedBy: ada.id, ...(signIn === 'bearer' && { secret: 'of-the-house' }) });
  await add('parcels', 'https://parcels.example/mcp', 'none');
  await add('printer', 'https://printer.example/mcp', 'bearer');
  await add('archive', 'https://archive.example/services/documents/mcp', 'oauth');
  for (const name of ['bank', 'tickets']) {
    const { id: serverId } = await add(name, `https://${name}.example/mcp`, 'oauth');
    await store.remotes.connect({ serverId, userId: ada.id, held: {}, expiresAt: null });
    if (name === 'tickets') await store.remotes.noteUse({ serverId, userId: ada.id });
    else await store.remotes.markReconnect({ serverId, userId: ada.id }, 1);
  }
}
