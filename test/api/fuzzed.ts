// The fuzz test in two sizes: a sample in every test run, all of it in the long tests.
import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiDocument } from '../../src/api/openapi/document.ts';
import { systemClock } from '../../src/core/clock.ts';
import { hashToken } from '../../src/core/secret.ts';
import { openDatabase } from '../../src/store/database/database.ts';
import { tokenScopes } from '../../src/store/oauth/tokens.ts';
import { createTriggerAddresses } from '../../src/workflows/triggers/trigger-address.ts';
import { openShop, type Shop } from '../app/shop.ts';
import { servers } from '../databases.ts';
import { createJudge } from './document.ts';
import { type FuzzPlace, fuzz } from './fuzz.ts';

const most = 1_000_000;
/** Calls a minute of the clock; a fuzz run makes fewer. */
const webhookMost = 1000;

async function openFuzzPlace(shop: Shop, storage: string, later: (ms: number) => void): Promise<FuzzPlace> {
  const { store, address } = shop;
  const userOf = async (email: string) => (await store.identity.findUserByEmail(email))!;
  const ada = await userOf(shop.account.email);
  await shop.addUser({ email: 'demoted@example.com', level: 'editor' });
  const edda = await userOf('demoted@example.com');
  let made = 0;
  const make = (scopes: readonly string[], userId = ada.id, expiresAt: number | null = null) =>
    store.tokens.create({ userId, name: `fuzz ${++made}`, scopes, expiresAt });
  const secretOf = async (...given: Parameters<typeof make>) => (await make(...given)).secret;

  const able = [];
  for (const scopes of [...tokenScopes.api.map((scope) => [scope]), [...tokenScopes.api]]) {
    able.push({ scopes, secret: await secretOf(scopes) });
  }
  const expired = await secretOf(['all'], ada.id, Date.now() + 10_000);
  const gone = await make(['all']);
  await store.tokens.revoke(gone.token.id);
  later(20_000);
  const spent = await secretOf(['all']);
  const limits = { minute: most, hour: most, day: most };
  await store.quotas.take(`api ${hashToken(spent)}`, limits);
  const tables = openDatabase({ url: storage, dataDir: '/', sqlite: 'auto' });
  await tables.knex('quotas').update({ day_count: most, day_ends: Date.now() + 86_400_000 });
  await tables.close();
  const { renderingId } = (await store.permissions.caller(ada.id))!;
  const publish = () =>
    store.workflows.publish({
      ...{ renderingId, name: `fuzz ${++made}`, collection: 'orders', concurrency: null, by: ada.id },
      // This step waits for user input, so there is a run to cancel.
      definition: JSON.stringify({
        ...{ name: `fuzz ${made}`, collection: 'orders' },
        steps: [{ id: 'look', type: 'guidance', text: 'Look.' }],
      }),
    });
  const workflow = await publish();
  const run = async () => {
    const started = { workflow, userId: ada.id, origin: 'api', originName: 'fuzz' } as const;
    const created = await store.runs.create({ ...started, recordId: `${++made}` });
    return created.state === 'created' ? created.runId : '';
  };
  const addresses = createTriggerAddresses({ store, address: `${address}/v1` });
  const change = async ({ id }: { readonly id: string }, isEnabled: boolean) => {
    const wanted = { isEnabled, needsSignature: false, keyId: await addresses.newestKey() };
    return (await store.workflows.changeTrigger(id, wanted, ada.id))!;
  };
  /** Other requests may have disabled the trigger or changed its URL. */
  const signedOf = async (flow: { readonly id: string }) => ({
    signedId: (await addresses.urlOf(await change(flow, true)))!.split('/').at(-1)!,
  });
  const [called, flooded] = [await publish(), await publish()];
  const flood = async () => {
    while ((await store.windows.add(`webhook ${flooded.id}`, 60_000)).count <= webhookMost);
    return signedOf(flooded);
  };
  const document = (await (await fetch(`${address}/v1/openapi.json`)).json()) as ApiDocument;
  return {
    address,
    judge: createJudge(document),
    tokens: {
      able,
      demoted: await secretOf(['all'], edda.id),
      expired,
      revoked: gone.secret,
      mcp: await secretOf(['mcp:read']),
      spent,
    },
    pool: new Map<string, unknown[]>([
      ['projectName', ['My project']],
      ['environmentName', ['Production']],
      ['collectionName', ['orders', 'customers']],
      ['recordId', ['1', '2', '3', '4', '5']],
      ['workflowId', [workflow.id, (await publish()).id]],
      ['runId', [await run(), await run(), await run()]],
      // Sometimes a record that already has an active run.
      ['record_id', ['1', '2', '3', '4', '5', '6', '7', '8']],
      ['callbackUrl', ['https://example.com/told', null]],
    ]),
    before: {
      revokeToken: async () => ({ tokenId: (await make(['notes:read'])).token.id }),
      cancelRun: async () => ({ runId: await run() }),
      triggerWorkflow: () => signedOf(called),
    },
    // The URL is signed, the rate limit is per webhook, and unknown properties are ignored (behaviour api 4.2).
    instead: {
      triggerWorkflow: {
        'an unknown parameter': { path: async () => ({ signedId: 'forged' }), statuses: [400] },
        'an id that is not there': { path: async () => ({ signedId: 2_147_483_000 }), statuses: [400] },
        'an unknown member': 'right',
        'a token without calls': { path: flood, statuses: [429] },
        'another project': {
          path: async () => {
            const signed = await signedOf(called);
            await change(called, false);
            return signed;
          },
          statuses: [404],
        },
      },
    },
    // Rejected tokens count against the limit of the client's IP address.
    also: { triggerWorkflow: [429] },
  };
}

export function proveFuzzed(requests: number): void {
  let shop: Shop;
  let place: FuzzPlace;
  let late = 0;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const storage = await servers.find(({ dialect }) => dialect === 'sqlite')!.create();
    drop = storage.drop;
    shop = await openShop({
      env: {
        SERVICE_STORAGE_URL: storage.url,
        SERVICE_API_PER_MINUTE: `${most}`,
        SERVICE_API_PER_HOUR: `${most}`,
        SERVICE_API_PER_DAY: `${most}`,
        SERVICE_WEBHOOK_PER_MINUTE: `${webhookMost}`,
      },
      app: { clock: { ...systemClock, now: () => Date.now() + late } },
    });
    place = await openFuzzPlace(shop, storage.url, (ms) => {
      late += ms;
    });
  }, 60_000);
  afterAll(async () => {
    await shop?.stop();
    await drop?.();
  });

  test(`${requests} random requests from the document: no failure, every response matches it, every status occurs`, {
    timeout: 1_800_000,
  }, async () => {
    const seed = Number(process.env.FUZZ_SEED ?? randomInt(1_000_000_000));
    const from = performance.now();
    const { good, met, faults, refused } = await fuzz(place, { requests, seed });
    const seconds = (performance.now() - from) / 1000;
    console.log(
      `FUZZ_SEED=${seed}: ${requests} requests in ${seconds.toFixed(1)} s, ${((good / requests) * 100).toFixed(1)} % good`,
    );
    for (const [what, text] of refused) console.log(`right, and refused: ${what} ${text.slice(0, 200)}`);
    const documented = place.judge.operations.flatMap(({ operation }) =>
      Object.keys(operation.responses)
        .filter((status) => /^\d+$/.test(status))
        .map((status) => `${operation.operationId} ${status}`),
    );
    expect(faults.slice(0, 10)).toEqual([]);
    expect(documented.filter((one) => !met.has(one))).toEqual([]);
    expect(good / requests).toBeGreaterThanOrEqual(0.6);
    // Internal failures are reported to the operator, whatever the response was.
    expect(shop.observed.filter(({ type }) => type === 'failure')).toEqual([]);
  });
}
