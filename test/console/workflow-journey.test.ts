// A workflow from all sides: a shell runs the curl command of its page, a browser follows the run, a user answers its
// question, and an MCP client reads its state.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { customizeDemo } from '../../examples/demo-shop/customization.ts';
import { callTool } from '../app/call.ts';
import { hasChromium, openChromium } from '../chromium.ts';
import { type ConsoleTestServer, openConsoleServer } from './console-server.ts';

const run = promisify(execFile);

const definition = {
  name: 'Second look',
  collection: 'orders',
  steps: [
    { id: 'read', type: 'read-record', title: 'Read the order', fields: ['status'], next: 'call' },
    { id: 'call', type: 'guidance', title: 'Call the customer', text: 'Order {{record.id}}: is it meant?' },
  ],
};

describe.skipIf(!hasChromium)('in a browser', () => {
  let server: ConsoleTestServer;
  let browser: Browser;
  beforeAll(async () => {
    server = await openConsoleServer({ app: { customize: customizeDemo } });
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  test('the curl command starts a run, a user answers it, and an assistant sees the result', {
    timeout: 90_000,
  }, async () => {
    const context = await browser.newContext();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const violations: string[] = [];
    context.on('console', (message) => /Content Security/.test(message.text()) && violations.push(message.text()));
    const tab = await context.newPage();
    await tab.goto(server.at('/workflows/new/json'));
    await tab.getByLabel('E-mail').fill(server.account.email);
    await tab.getByLabel('Password').fill(server.account.password);
    await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
    await tab.getByLabel('Definition (JSON)').fill(JSON.stringify(definition));
    await tab.getByRole('button', { name: 'Save and publish' }).click();
    await tab.getByRole('button', { name: 'Turn on' }).click();
    await tab.getByRole('button', { name: 'Copy a call of the webhook' }).click();
    await tab.getByRole('status').getByText('Copied').waitFor();
    const line = `${await tab.evaluate('navigator.clipboard.readText()')}`;

    const { id: userId } = server.ada;
    const tokenFor = async (...scopes: string[]) =>
      (await server.store.tokens.create({ userId, name: scopes.join(), scopes })).secret;
    const env = { PATH: process.env.PATH ?? '', PORTICO_TOKEN: await tokenFor('workflows:trigger') };
    const { stdout } = await run('sh', ['-c', `${line} --silent`], { env });
    const { runId } = JSON.parse(stdout) as { runId: string };

    await tab.goto(server.at('/runs'));
    await tab
      .getByRole('main')
      .getByRole('link', { name: /20\d\d/ })
      .click();
    await tab.getByText('Waiting for a person').first().waitFor();
    // A page that was loaded before the question has a link; reloading shows the question itself.
    await tab.reload();
    await tab.getByText('Order 1: is it meant?').waitFor();
    const assistant = await tokenFor('mcp:read', 'mcp:action');
    const ask = () => callTool(server.mcpUrl, assistant, 'getWorkflowRun', { runId });
    const before = await ask();
    await tab.getByRole('button', { name: 'Mark as done' }).click();
    // The page refreshes itself until the run ends.
    await tab.getByText('Completed.').waitFor();
    const after = await ask();
    await context.close();

    expect(before).toMatchObject({
      json: {
        state: 'awaiting-input',
        waitsFor: { step: 'Call the customer', answerAt: server.at(`/runs/${runId}`) },
      },
    });
    expect(after).toMatchObject({
      json: {
        state: 'succeeded',
        rows: [
          ['Read the order', 'done'],
          ['Call the customer', 'done'],
        ],
      },
    });
    expect(violations).toEqual([]);
  });
});
