// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of the source
// Limits for a call, a connection and a user.
import { connect } from 'node:net';
import { systemClock } from '../../../src/core/clock.ts';
import { type Attack, type Place, verdict } from '../attack.ts';
import { shop } from './shop.ts';

const leaf = (field: string, operator: string, value: unknown) => ({ field, operator, value });
const values = 'src/agent/resolve/values.ts';

/** A call that is refused with a message that says what to send instead. */
const refused = (
  id: string,
  title: string,
  call: readonly [tool: string, args: Record<string, unknown>],
  protection: Attack['protection'],
): Attack => ({
  id,
  finding: id.startsWith('data-low') ? 'data low' : 'data held',
  title,
  place: shop,
  async attack(target) {
    const attacker = await target.person();
    const answer = await attacker.call(...call);
    return verdict(!/^(INVALID_|400)/.test(String(answer)), answer);
  },
  protection,
});

const one = { collectionName: 'orders' };
const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

const slow: Place = {
  ...shop,
  name: 'shop with a slow view',
  tables: (dialect) => [
    ...shop.tables(dialect),
    'create table numbers (n integer not null primary key)',
    `insert into numbers (n) values ${times(2000, (at) => `(${at})`).join(', ')}`,
    'create view slow as select a.n as id from numbers a cross join numbers b cross join numbers c where a.n + b.n * c.n = -1',
  ],
};

const impatient: Place = { ...shop, name: 'shop that waits for two seconds', env: { SERVICE_REQUEST_SECONDS: '2' } };
const paced: Place = {
  ...shop,
  name: 'shop with ten calls a minute',
  env: { SERVICE_MCP_REQUESTS_PER_MINUTE: '10', SERVICE_API_PER_MINUTE: '3' },
};

export const limitAttacks: readonly Attack[] = [
  {
    id: 'held-json-100000-deep',
    finding: 'data held',
    title: 'a body of 100,000 levels is parsed (CWE-674)',
    place: shop,
    async attack(target) {
      const attacker = await target.person();
      const answer = await attacker.raw(
        'list',
        `{"collectionName":"orders","filters":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      );
      return verdict(!/^400/.test(String(answer)), answer);
    },
    protection: [{ file: 'src/http/body.ts', text: '  checkDepth(bytes, depthLimit);\n', into: '' }],
  },
  refused(
    'held-700-conditions',
    'more conditions stand in one filter than a database is asked',
    ['list', { ...one, filters: { aggregator: 'Or', conditions: times(700, (at) => leaf('id', 'Equal', at)) } }],
    [{ file: 'src/core/filter.ts', text: 'MAX_CONDITIONS = 500;', into: 'MAX_CONDITIONS = 1e9;' }],
  ),
  refused(
    'held-100000-values',
    'a list of 100,000 values is looked for',
    [
      'list',
      {
        ...one,
        filters: leaf(
          'id',
          'In',
          times(100_000, (at) => at),
        ),
      },
    ],
    [{ file: values, text: 'const LIST_LIMIT = 10_000;', into: 'const LIST_LIMIT = 1e9;' }],
  ),
  refused(
    'held-page-of-1e9',
    'a page holds 1,000,000,000 records',
    ['list', { ...one, pagination: { size: 1e9 } }],
    [
      { file: 'src/mcp/tools/listing.ts', text: '  if (limit > pageSizeLimit) {', into: '  if (limit < 0) {' },
      {
        file: 'src/agent/operations/call.ts',
        text: 'limit >= 1 && limit <= most) return limit;',
        into: 'limit >= 1) return limit;',
      },
    ],
  ),
  refused(
    'held-9000-records-in-one-write',
    'one call deletes 9,000 records',
    ['delete', { collectionName: 'notes', recordIds: times(9000, (at) => String(50_000 + at)) }],
    [
      {
        file: 'src/agent/write/target.ts',
        text: 'export const RECORDS_LIMIT = 500;',
        into: 'export const RECORDS_LIMIT = 1e9;',
      },
    ],
  ),
  refused(
    'data-low-pattern-of-50001',
    'a pattern of 50,001 characters is INTERNAL on SQLite',
    ['list', { ...one, filters: leaf('label', 'Like', 'a'.repeat(50_001)) }],
    [
      { file: values, text: 'const PATTERN_LIMIT = 5_000;', into: 'const PATTERN_LIMIT = 1e9;' },
      { file: 'src/agent/sources/sql/failures.ts', text: 'pattern too complex|too big|', into: '' },
      { file: 'src/agent/sources/sql/failures.ts', text: "  [/^SQLITE_TOOBIG/, 'large'],\n", into: '' },
    ],
  ),
  {
    id: 'held-body-of-6-mb',
    finding: 'data held',
    title: 'a body of 6 MB is read, announced or not',
    place: shop,
    async attack(target) {
      const { token } = await target.person();
      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { text: 'x'.repeat(6_000_000) } });
      const send = async (more: RequestInit) =>
        (await fetch(target.mcpUrl, { method: 'POST', headers, ...more }).catch(() => ({ status: 0 }))).status;
      const chunked = new ReadableStream({
        start(controller) {
          for (let at = 0; at < body.length; at += 65_536) controller.enqueue(Buffer.from(body.slice(at, at + 65_536)));
          controller.close();
        },
      });
      const statuses = [await send({ body }), await send({ body: chunked, duplex: 'half' } as RequestInit)];
      return verdict(
        statuses.some((status) => status === 200),
        statuses,
      );
    },
    protection: [
      { file: 'src/http/body.ts', text: 'if (size > limitBytes) {', into: 'if (size > limitBytes * 100) {' },
      {
        file: 'src/http/body.ts',
        text: "Number(req.headers['content-length'] ?? 0) > limitBytes",
        into: "Number(req.headers['content-length'] ?? 0) > limitBytes * 100",
      },
    ],
  },
  {
    id: 'held-slow-bodies',
    finding: 'data held',
    title: 'connections that never finish their request are kept (CWE-400)',
    place: impatient,
    alone: true,
    async attack(target) {
      const { token } = await target.person();
      const { hostname, port } = new URL(target.origin);
      let open = 0;
      const sockets = times(50, (at) => {
        const socket = connect(Number(port), hostname);
        open++;
        socket
          .resume()
          .on('error', () => undefined)
          .on('close', () => open--);
        const whole = `POST /mcp HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"jso`;
        socket.write(at % 2 ? whole : whole.slice(0, 60));
        return socket;
      });
      await systemClock.sleep(6000);
      const left = open;
      for (const socket of sockets) socket.destroy();
      return verdict(left > 0, { left });
    },
    protection: [
      {
        file: 'src/server/http-server.ts',
        text: '    requestTimeout: arrival,\n    headersTimeout: arrival,',
        into: 'requestTimeout: arrival * 100, headersTimeout: arrival * 100,',
      },
    ],
  },
  {
    id: 'held-cancelled-query-goes-on',
    finding: 'data held',
    title: 'a query whose caller has gone works on in the database',
    on: ['postgres', 'mariadb'],
    place: slow,
    async attack(target) {
      const attacker = await target.person();
      const stop = new AbortController();
      const call = {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'list', arguments: { collectionName: 'slow' } },
      };
      const sent = fetch(target.mcpUrl, {
        method: 'POST',
        signal: stop.signal,
        headers: {
          authorization: `Bearer ${attacker.token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2025-11-25',
        },
        body: JSON.stringify(call),
      }).catch(() => undefined);
      const working = () =>
        target.dialect === 'postgres'
          ? target.rows(
              "SELECT pid FROM pg_stat_activity WHERE state = 'active' AND datname = current_database() AND pid <> pg_backend_pid()",
            )
          : target.rows(
              "SELECT id FROM information_schema.processlist WHERE db = database() AND command IN ('Query', 'Execute') AND id <> connection_id()",
            );
      await systemClock.sleep(700);
      const before = (await working()).length;
      stop.abort();
      await sent;
      await systemClock.sleep(1500);
      const left = await working();
      // A running statement keeps the database from being dropped.
      if (target.dialect === 'mariadb') for (const id of left) await target.sql(`KILL ${id}`);
      return verdict(before === 0 || left.length > 0, { before, after: left.length });
    },
    protection: [
      {
        file: 'src/agent/sources/sql/cancellation.ts',
        text: "  signal?.addEventListener('abort', cancel, { once: true });",
        into: '  void cancel;',
      },
    ],
  },
  {
    id: 'held-pace-of-one-user',
    finding: 'data held',
    title: 'a second token of a user is a way round the calls a minute',
    place: paced,
    async attack(target) {
      const attacker = await target.person();
      const { secret } = await target.store.tokens.create({
        userId: attacker.id,
        name: 'second',
        scopes: ['mcp:read'],
      });
      const answers: unknown[] = [];
      for (let at = 0; at < 8; at++)
        for (const caller of [attacker, target.caller(secret)])
          answers.push(await caller.call('list', { collectionName: 'tags' }));
      const good = answers.filter((answer) => typeof answer === 'object').length;
      return verdict(good > 10, { good, last: answers.at(-1) });
    },
    protection: [
      {
        file: 'src/mcp/transport/rate-limit.ts',
        text: 'if (count <= perMinute) return;',
        into: 'if (count <= perMinute * 100) return;',
      },
    ],
  },
  {
    id: 'data-low-clock-set-back',
    finding: 'data low',
    title: 'a clock that is set back an hour holds a client of the public API up for an hour',
    place: {
      ...paced,
      name: 'shop whose clock can be set back',
      env: { ...paced.env, NODE_OPTIONS: `--import ${new URL('../clock.mjs', import.meta.url).pathname}` },
    },
    async attack(target) {
      const attacker = await target.person({ level: 'admin' });
      const { secret } = await target.store.tokens.create({ userId: attacker.id, name: 'api', scopes: ['all'] });
      const ask = () =>
        fetch(`${target.origin}/v1/project/My%20project/admin-logs`, {
          headers: { authorization: `Bearer ${secret}` },
        });
      for (let at = 0; at < 5; at++) await (await ask()).text();
      target.signal('SIGUSR2');
      await systemClock.sleep(300);
      const { status, headers } = await ask();
      const wait = Number(headers.get('retry-after') ?? 0);
      return verdict(status === 429 && wait > 600, { status, wait });
    },
    protection: [
      {
        file: 'src/store/limits/quotas.ts',
        text: ' OR ${row}${name}_ends > :${name}_latest)`;',
        into: ')`;',
      },
    ],
  },
];
