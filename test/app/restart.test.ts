// A restart while assistants call: either the old or the new engine answers every call.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { ask, callTool, type Era } from './call.ts';
import { mounts, tokenOf } from './mounts.ts';

const CALLERS = 8;
const RESTARTS = 12;

test.each(mounts)('restart under load drops no call: %s', async (_place, open) => {
  let generation = 0;
  const { agent, mcpUrl, ...mounted } = await open({
    customize: (one) =>
      one.customizeCollection('customers', (customers) => {
        customers.renameField('name', `name${generation}`).addHook('Before', 'List', () => systemClock.sleep(3));
      }),
  });
  const token = await tokenOf({ agent, mcpUrl, ...mounted });
  const answers: unknown[] = [];
  let isOver = false;
  const caller = async (era: Era) => {
    while (!isOver) {
      const listed = await callTool(mcpUrl, token, 'list', { collectionName: 'customers' }, { era });
      const { status } = await ask(mcpUrl, token, 'tools/list', {}, { era });
      const columns = 'json' in listed ? (listed.json as { columns: string[] }).columns : [JSON.stringify(listed)];
      answers.push(status === 200 ? columns.find((name) => /^name\d+$/.test(name)) : status);
    }
  };
  const callers = Array.from({ length: CALLERS }, (_, at) => caller(at % 2 ? 'modern' : 'legacy'));
  for (generation = 1; generation <= RESTARTS; generation++) {
    await agent.restart();
    // Wait until a caller has seen the new engine, except for every fourth restart, which is followed by the next at
    // once.
    const seen = () => generation % 4 === 0 || answers.includes(`name${generation}`);
    do await systemClock.sleep(5);
    while (!seen());
  }
  isOver = true;
  await Promise.all(callers);
  // The last answers of the callers may come from before the last restart.
  const last = await callTool(mcpUrl, token, 'list', { collectionName: 'customers' });
  const known = Array.from({ length: RESTARTS + 1 }, (_, at) => `name${at}`);
  expect([
    answers.filter((answer) => !known.includes(String(answer))),
    new Set(answers).size > RESTARTS / 2,
    last,
  ]).toEqual([[], true, { json: expect.objectContaining({ columns: expect.arrayContaining([`name${RESTARTS}`]) }) }]);
});

test('a restart changes the listed tools', async () => {
  let hasAction = false;
  const [, open] = mounts[0]!;
  const mounted = await open({
    customize: (agent) =>
      agent.customizeCollection('customers', (customers) => {
        if (!hasAction) return;
        customers.addAction('Greet', { scope: 'Global', execute: (_context, builder) => builder.success() });
      }),
  });
  const token = await tokenOf(mounted);
  const shown = async () => {
    const { text } = await ask(mounted.mcpUrl, token, 'tools/list', {});
    return JSON.parse(text).result.tools.some(({ name }: { name: string }) => name === 'getActionForm');
  };
  const before = await shown();
  hasAction = true;
  await mounted.agent.restart();
  expect([before, await shown()]).toEqual([false, true]);
});

test('a restart notifies listening clients; clients that cannot listen get no listChanged capability', async () => {
  const [, open] = mounts[0]!;
  const mounted = await open({ customize: () => undefined });
  const token = await tokenOf(mounted);
  const connect = async (mode: 'legacy' | { pin: string }) => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(mounted.mcpUrl), { requestInit }));
    return client;
  };
  const client = await connect({ pin: '2026-07-28' });
  const heard: string[] = [];
  for (const what of ['tools', 'resources', 'prompts'] as const) {
    const method = `notifications/${what}/list_changed` as const;
    client.setNotificationHandler(method, () => void heard.push(what));
  }
  const listening = await client.listen({ toolsListChanged: true, resourcesListChanged: true });
  const before = [...heard];
  await mounted.agent.restart();
  for (let tries = 0; tries < 1000 && heard.length < 2; tries++) await systemClock.sleep(20);
  await listening.close();
  const earlier = await connect('legacy');
  const told = [client, earlier].map((one) => one.getServerCapabilities()?.tools?.listChanged ?? false);
  await Promise.all([client.close(), earlier.close()]);
  expect([before, heard, told]).toEqual([[], ['tools', 'resources'], [true, false]]);
});

test('a replaced model is garbage collected, even if its users stay signed in', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const models: WeakRef<object>[] = [];
  const [, open] = mounts[0]!;
  const mounted = await open({
    customize: (agent) =>
      agent.customizeCollection('customers', (customers) => {
        const of = { model: models.length };
        models.push(new WeakRef(of));
        customers.addField('model', {
          columnType: 'Number',
          dependencies: ['id'],
          getValues: (records) => records.map(() => of.model),
        });
      }),
  });
  const token = await tokenOf(mounted);
  const list = () => callTool(mounted.mcpUrl, token, 'list', { collectionName: 'customers', fields: ['model'] });
  for (let at = 0; at < RESTARTS; at++) {
    await list();
    await mounted.agent.restart();
  }
  const alive = () => models.filter((model) => model.deref()).length;
  for (let tries = 0; tries < 20 && alive() > 2; tries++) {
    await systemClock.sleep(20);
    collect();
  }
  expect([models.length, alive() <= 2]).toEqual([RESTARTS + 1, true]);
});
