// The scopes of the first challenge are enough for everything: the SDK's own client requests only these.
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { account, mounts, redirectUri } from '../app/mounts.ts';
import { authorizationUrl, register } from '../oauth/client.ts';
import { createBrowser } from '../oauth/flow.ts';
import { createPerson } from './person.ts';

const [, openUnderBasePath] = mounts[1]!;
const customers = 'customers';

const open = () =>
  openUnderBasePath({
    customize(agent) {
      agent.customizeCollection(customers, (collection) =>
        collection.addAction('Greet', { scope: 'Single', execute: (_context, result) => result.success('Hello') }),
      );
      agent.addWorkflow({
        ...{ name: 'greets', collection: customers },
        steps: [{ id: 'it', type: 'trigger-action', mode: 'automatic', action: 'Greet' }],
      });
    },
  });

const textOf = (result: unknown): string => (result as { content: [{ text: string }] }).content[0].text;

// MCP 2025-11-25, authorization, "Scope Selection Strategy": a client requests the scopes of the first challenge.
test.each(['legacy', 'auto', { pin: '2026-07-28' }] as const)(
  'mode %o: signs in once, and runs an action and a workflow',
  async (mode) => {
    const mounted = await open();
    const person = createPerson();
    const transport = () =>
      new StreamableHTTPClientTransport(new URL(mounted.mcpUrl), { authProvider: person.provider });
    const make = () => new Client({ name: 'notebook', version: '1' }, { versionNegotiation: { mode } });
    const refused = transport();
    await expect(make().connect(refused)).rejects.toThrow(UnauthorizedError);
    await refused.finishAuth(await person.signIn(account));
    const client = make();
    await client.connect(transport());
    const action = await client.callTool({
      name: 'executeAction',
      arguments: { collectionName: customers, actionName: 'Greet', recordIds: ['1'] },
    });
    const { rows } = JSON.parse(textOf(await client.callTool({ name: 'listWorkflows', arguments: {} }))) as {
      rows: string[][];
    };
    const run = await client.callTool({
      name: 'triggerWorkflow',
      arguments: { workflowId: rows[0]![0], recordId: '1' },
    });
    await client.close();
    expect([action.isError ?? false, textOf(action).includes('Hello'), run.isError ?? false, textOf(run)]).toEqual([
      false,
      true,
      false,
      expect.stringContaining('runId'),
    ]);
  },
);

test('the consent page shows a checked box for each scope that opens anything to the user', async () => {
  const ticks = async (customized: boolean) => {
    const mounted = customized ? await open() : await openUnderBasePath();
    const registered = await register(`${mounted.origin}${mounted.prefix}`, { redirect_uris: [redirectUri] });
    const { url } = await authorizationUrl(registered, { redirectUri });
    const browser = createBrowser();
    const page = await browser.press(await browser.open(url), 'sign-in', { ...account });
    const list = /<ul class="scopes".*?<\/ul>/s.exec(page.html)?.[0] ?? '';
    return [
      [...list.matchAll(/<(?:b|label for="[^"]*")>([^<]*)/g)].map(([, title]) => title),
      [...list.matchAll(/name="scope" value="([^"]*)" checked/g)].map(([, scope]) => scope),
    ];
  };
  expect([await ticks(true), await ticks(false)]).toEqual([
    [
      ['Read your data', 'Change your data', 'Run actions'],
      ['mcp:write', 'mcp:action'],
    ],
    [['Read your data', 'Change your data'], ['mcp:write']],
  ]);
});
