// The tool executeAction over the real endpoint: which actions run, their results, and which never run.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterEach, describe, expect, test } from 'vitest';
import type { ActionDefinition } from '../../src/agent/actions/definitions.ts';
import { ActionError } from '../../src/agent/actions/failure.ts';
import type { ResultBuilder } from '../../src/agent/actions/results.ts';
import type { Rights } from '../agent/shop.ts';
import { type Counter, openCounter } from '../mcp/counter.ts';
import type { McpTestServerOptions } from '../mcp/mcp-server.ts';

let counter: Counter;
let outside: Server | undefined;
afterEach(async () => {
  await counter.house.close();
  await new Promise((resolve) => (outside ? outside.close(resolve) : resolve(undefined)));
  outside = undefined;
});

/** Refund (one record), Archive (selected records) and Close (all records); each records its arguments. */
async function open(rights: Rights = {}, options: McpTestServerOptions = {}) {
  const ran: unknown[] = [];
  const form = [
    { label: 'Amount', id: 'amount', type: 'Number', isRequired: true, widget: 'NumberInput', min: 1, max: 50 },
    { label: 'reason', type: 'Enum', enumValues: ['damaged', 'late', 'other'] },
  ] as const;
  const actions: Record<string, ActionDefinition> = {
    Refund: {
      scope: 'Single',
      form,
      async execute(context, builder) {
        ran.push(['Refund', await context.getRecordId(), context.formValues]);
        return builder.success('Refunded', {
          html: '<p>Order <b>1</b></p><script>steal()</script>',
          invalidated: ['orders', 'customers'],
        });
      },
    },
    Archive: {
      scope: 'Bulk',
      async execute(context) {
        ran.push(['Archive', await context.getRecordIds()]);
        return undefined;
      },
    },
    Close: {
      scope: 'Global',
      execute() {
        ran.push(['Close']);
        return undefined;
      },
    },
  };
  counter = await openCounter(actions, rights, options);
  return {
    ran,
    execute: (given: Record<string, unknown>, token?: string) =>
      counter.ask('executeAction', { collectionName: 'orders', ...given }, token),
  };
}

/** One Global action with this result. */
async function openAnswering(
  answer: (builder: ResultBuilder) => ReturnType<ActionDefinition['execute']>,
  settings = {},
) {
  counter = await openCounter({ Act: { scope: 'Global', execute: (_, builder) => answer(builder) } }, {}, { settings });
  return () => counter.ask('executeAction', { collectionName: 'orders', actionName: 'Act' });
}

describe('4.4 MCP tools', () => {
  test('executeAction: on one record, on several and on none, with the values of its form', async () => {
    const { execute, ran } = await open();
    expect([
      await execute({ actionName: 'Refund', recordIds: 1, values: '{"amount":"12","reason":"late"}' }),
      await execute({ actionName: 'Archive', recordIds: '[2,"3"]' }),
      await execute({ actionName: 'Close' }),
      ran,
    ]).toEqual([
      '{"result":"success","message":"Refunded","text":"Order 1","changed":["orders","customers"]}',
      '{"result":"success","message":"Success"}',
      '{"result":"success","message":"Success"}',
      [['Refund', 1, { amount: 12, reason: 'late' }], ['Archive', [2, 3]], ['Close']],
    ]);
  });

  test('executeAction: is logged with names and ids and without values', async () => {
    const { execute } = await open();
    await execute({ actionName: 'Refund', recordIds: [1], values: { amount: 12 } });
    await execute({ actionName: 'Refund', recordIds: [1], values: { amount: 0 } });
    const entries = await counter.house.store.activity.list({ limit: 9 });
    expect(
      entries.map(({ action, type, collection, recordIds, outcome, code }) => [
        action,
        type,
        collection,
        recordIds,
        outcome,
        code,
      ]),
    ).toEqual([
      ['executeAction', 'write', 'orders', ['1'], 'failed', 'INVALID_FORM'],
      ['executeAction', 'write', 'orders', ['1'], 'completed', undefined],
    ]);
  });

  test('executeAction: with an idempotency key it runs once', async () => {
    const { ran, execute } = await open();
    const given = { actionName: 'Archive', recordIds: [1, 2], idempotencyKey: 'one' };
    const texts = [await execute(given), await execute(given)];
    const other = await execute({ ...given, recordIds: [3] });
    expect([texts[1] === texts[0], other.split(':')[0], ran]).toEqual([
      true,
      'IDEMPOTENCY_KEY_REUSED',
      [['Archive', [1, 2]]],
    ]);
  });

  test('executeAction: dryRun checks records and values, and runs nothing', async () => {
    const { execute, ran } = await open();
    const dryRun = true;
    const note =
      'The action can run with these records and values. It was not run: the effects of its code are unknown before it runs.';
    expect([
      JSON.parse(await execute({ actionName: 'Refund', recordIds: [1], values: { amount: 5 }, dryRun })),
      JSON.parse(await execute({ actionName: 'Archive', recordIds: [1, 2], dryRun })),
      JSON.parse(await execute({ actionName: 'Close', dryRun })),
      await execute({ actionName: 'Refund', recordIds: [1], dryRun }),
      await execute({ actionName: 'Archive', recordIds: [1, 99], dryRun }),
      ran,
      counter.house.activity.map(({ type }) => type),
    ]).toEqual([
      { dryRun, records: 1, note },
      { dryRun, records: 2, note },
      { dryRun, note },
      'INVALID_FORM: Nothing was done. amount: is required: send a number.',
      "RECORD_NOT_FOUND: No record '99' in 'orders', or you may not see it.",
      [],
      ['read', 'read', 'read', 'read', 'read'],
    ]);
  });
});

describe('the result of an action', () => {
  test('executeAction: an error is a tool error, with its text', async () => {
    const act = await openAnswering((builder) =>
      builder.error('Too late', { html: '<ul><li>Order <i>1</i></li></ul>' }),
    );
    expect(await act()).toBe('ACTION_REFUSED: Too late\nOrder 1');
  });

  test('executeAction: a redirect path becomes a URL of the application, another URL is unchanged', async () => {
    const settings = { publicUrl: 'https://shop.example' };
    const inside = await openAnswering((builder) => builder.redirectTo('/orders/1?x=2'), settings);
    const first = await inside();
    await counter.house.close();
    const outwards = await openAnswering((builder) => builder.redirectTo('https://other.example/x'), settings);
    expect([first, await outwards()]).toEqual([
      '{"result":"redirect","url":"https://shop.example/orders/1?x=2"}',
      '{"result":"redirect","url":"https://other.example/x"}',
    ]);
  });

  test('executeAction: code that refuses shows its message, code that throws does not', async () => {
    const refusing = await openAnswering(() => {
      throw new ActionError('The shop is closed on Sundays.');
    });
    const refused = await refusing();
    await counter.house.close();
    const broken = await openAnswering(() => {
      throw new Error('password of the operator');
    });
    expect([refused, await broken()]).toEqual([
      'ACTION_REFUSED: The shop is closed on Sundays.',
      "ACTION_FAILED: The code of the action 'Act' of 'orders' failed (execute). Tell the operator; the log has the cause.",
    ]);
  });
});

describe('webhooks', () => {
  const got: unknown[] = [];
  async function openOutside(status = 202): Promise<string> {
    got.splice(0);
    outside = createServer((req, res) => {
      let body = '';
      req.on('data', (chunk: Buffer) => {
        body += chunk;
      });
      req.on('end', () => {
        got.push([req.method, req.url, req.headers['content-type'], req.headers['x-key'], body]);
        res.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end('secret answer');
      });
    });
    await new Promise<void>((resolve) => outside!.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(outside.address() as AddressInfo).port}`;
  }

  test('are sent by the server to an allowed host, and the status is returned', async () => {
    const host = await openOutside();
    const act = await openAnswering(
      (builder) => builder.webhook(`http://${host}/hook`, 'PUT', { 'X-Key': 'k', Host: 'evil.example' }, { a: 1 }),
      { webhookHosts: ['127.0.0.1'] },
    );
    expect([JSON.parse(await act()), got]).toEqual([
      { result: 'webhook', host, status: 202 },
      [['PUT', '/hook', 'application/json', 'k', '{"a":1}']],
    ]);
  });

  test('executeAction: follow no redirect', async () => {
    const host = await openOutside(302);
    const act = await openAnswering((builder) => builder.webhook(`http://${host}/`, 'GET'), {
      webhookHosts: ['127.0.0.1'],
    });
    expect([JSON.parse(await act()).status, got.length]).toEqual([302, 1]);
  });

  test.each(['127.0.0.1', 'localhost', '[::1]', '0x7f000001', '[::ffff:127.0.0.1]'])(
    'never reach a private address that is not allowed: %s',
    async (name) => {
      const host = await openOutside();
      const act = await openAnswering((builder) => builder.webhook(`http://${name}:${host.split(':')[1]}/`));
      const { result, note, status } = JSON.parse(await act());
      expect([result, note, status, got]).toEqual([
        'webhook',
        'The action ran, but its webhook did not respond. Tell the operator; do not repeat the call.',
        undefined,
        [],
      ]);
    },
  );
});

describe('calls that never run', () => {
  test('executeAction: a missing selection of records is refused and does not mean all', async () => {
    const { execute, ran } = await open();
    expect([
      await execute({ actionName: 'Archive' }),
      await execute({ actionName: 'Archive', recordIds: [] }),
      await execute({ actionName: 'Archive', recordIds: null }),
      await execute({ actionName: 'Refund', values: { amount: 5 } }),
      await execute({ actionName: 'Refund', recordIds: [1, 2], values: { amount: 5 } }),
      await execute({ actionName: 'Close', recordIds: [1] }),
      await execute({ actionName: 'Archive', recordIds: [1, 88, 99] }),
      ran,
    ]).toEqual([
      ...Array.from(
        { length: 3 },
        () =>
          "INVALID_ARGUMENT: recordIds: 'Archive' runs on selected records: send at least one id. An empty list does not mean all records.",
      ),
      ...Array.from({ length: 2 }, () => "INVALID_ARGUMENT: recordIds: 'Refund' runs on one record: send one id."),
      "INVALID_ARGUMENT: recordIds: 'Close' is a global action and takes no records: leave it out.",
      "RECORD_NOT_FOUND: No record '88', '99' in 'orders', or you may not see it.",
      [],
    ]);
  });

  test('executeAction: an invalid form: all errors are returned by field, within 80 tokens', async () => {
    const { execute, ran } = await open();
    const wrong = await execute({
      actionName: 'Refund',
      recordIds: [1],
      values: { amount: 500, reason: 'lat', amuont: 1 },
    });
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`field${i}`, i]));
    const long = await execute({ actionName: 'Refund', recordIds: [1], values: many });
    expect([wrong, countTokens(long) <= 80, long, ran]).toEqual([
      expect.stringMatching(/amuont.*send amount.*50.*late/s),
      true,
      expect.stringMatching(/ \d+ more; getActionForm with these values shows all\.$/),
      [],
    ]);
  });

  test('executeAction: hidden and forbidden actions and records give the same errors as unknown ones', async () => {
    const scopes = { orders: { field: 'id', operator: 'Equal', value: 2 } } as const;
    const { execute, ran } = await open({ untriggered: ['orders.Refund'], scopes, browse: ['orders'] });
    expect([
      await execute({ actionName: 'Refund', recordIds: [2], values: { amount: 5 } }),
      await execute({ actionName: 'Refun', recordIds: [2] }),
      await execute({ actionName: 'Archive', recordIds: [1] }),
      await execute({ collectionName: 'customers', actionName: 'Archive', recordIds: [1] }),
      ran,
    ]).toEqual([
      "UNKNOWN_ACTION: 'orders' has no action 'Refund'.",
      "UNKNOWN_ACTION: 'orders' has no action 'Refun'.",
      "RECORD_NOT_FOUND: No record '1' in 'orders', or you may not see it.",
      "UNKNOWN_COLLECTION: No collection 'customers'. Call describeCollection without a name for the list.",
      [],
    ]);
  });

  test('executeAction: without the OAuth scope: 403 with the required scope', async () => {
    const { ran } = await open();
    const response = await fetch(counter.house.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', authorization: 'Bearer writer-2' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'executeAction', arguments: { collectionName: 'orders', actionName: 'Close' } },
      }),
    });
    expect([response.status, response.headers.get('www-authenticate'), ran]).toEqual([
      403,
      'Bearer error="insufficient_scope", scope="mcp:write mcp:action"',
      [],
    ]);
  });

  test('executeAction: if permissions change during the call, it runs with the new ones', async () => {
    const { execute, ran } = await open();
    counter.house.holds.push(Promise.resolve(false));
    counter.house.revoked.add('user-4');
    const body = await execute({ actionName: 'Close' }, 'user-2');
    expect([body, ran, counter.house.renewed]).toEqual([
      '{"result":"success","message":"Success"}',
      [['Close']],
      ['user-2'],
    ]);
  });
});
