// The endpoints that a token opens, and what users can see of each other's requests.
import { sessionToken } from '../../rest/front-end.ts';
import { type Attack, verdict } from '../attack.ts';
import { feel, isHeldUp, listOf } from '../standstill.ts';
import { all, none } from '../target.ts';
import { fresh, shop } from './shop.ts';

export const entranceAttacks: readonly Attack[] = [
  {
    id: 'held-token-of-another-entrance',
    finding: 'data held',
    title: 'tokens of the public API, of a program, of a session and of an upload open /mcp, and the other way round',
    place: shop,
    async attack(target) {
      const attacker = await target.person({ level: 'admin' });
      const { secret } = await target.store.tokens.create({ userId: attacker.id, name: 'api', scopes: ['all'] });
      const { secret: program } = await target.store.tokens.create({
        ...{ userId: attacker.id, name: 'program', scopes: ['records:read', 'records:write', 'records:action'] },
      });
      const asked = await attacker.call('requestActionFileUpload', { filename: 'a.txt', mimeType: 'text/plain' });
      const { fileHandle } = asked as { fileHandle: string };
      const session = await sessionToken(target.apiUrl, attacker);
      const statusOf = async (url: string, token: string, init: RequestInit = {}) =>
        (await fetch(url, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } })).status;
      const post: RequestInit = {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2025-11-25',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      };
      const log = `${target.origin}/v1/project/My%20project/admin-logs`;
      const statuses = [];
      for (const token of [secret, program, session, fileHandle])
        statuses.push(await statusOf(target.mcpUrl, token, post));
      for (const token of [attacker.token, program, session, fileHandle]) statuses.push(await statusOf(log, token));
      for (const token of [attacker.token, secret, fileHandle])
        statuses.push(await statusOf(`${target.apiUrl}/orders`, token));
      return verdict(
        statuses.some((status) => status !== 401),
        statuses,
      );
    },
    protection: [
      {
        file: 'src/oauth/tokens/application-token.ts',
        text: 'if (token.entrance !== entrance) {',
        into: 'if (entrance === undefined) {',
      },
    ],
  },
  {
    id: 'held-read-token-writes',
    finding: 'data held',
    title: 'a token for reading writes (RFC 6750 section 3.1)',
    place: shop,
    async attack(target) {
      const attacker = await target.person();
      const { secret } = await target.store.tokens.create({
        userId: attacker.id,
        name: 'reader',
        scopes: ['mcp:read'],
      });
      const id = fresh();
      await target.sql(`INSERT INTO orders (id, label) VALUES (${id}, 'before')`);
      const change = { collectionName: 'orders', recordId: id, attributes: { label: 'after' } };
      const answer = await target.caller(secret).call('update', change);
      const [label] = await target.rows(`SELECT label FROM orders WHERE id = ${id}`);
      return verdict(label !== 'before', { label, answer });
    },
    protection: [
      {
        file: 'src/mcp/endpoint.ts',
        text: 'if (!tool || auth.scopes.has(tool.scope)) return;',
        into: 'if (!tool || auth.scopes) return;',
      },
      { file: 'src/mcp/tool-call.ts', text: 'if (!auth.scopes.has(tool.scope))', into: 'if (!auth.scopes)' },
    ],
  },
  {
    id: 'held-program-beyond-its-token',
    finding: 'data held',
    title: "a program writes with a token for reading, or acts with one for writing, at the agent's HTTP API",
    place: shop,
    async attack(target) {
      const attacker = await target.person();
      const ask = async (scope: string, method: string, path: string, attributes: object, id?: string) => {
        const { secret } = await target.store.tokens.create({
          ...{ userId: attacker.id, name: `${scope} ${method} ${path}`, scopes: [scope] },
        });
        const response = await fetch(target.apiUrl + path, {
          method,
          headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
          body: JSON.stringify({ data: { type: 'orders', attributes, ...(id && { id }) } }),
        });
        return response.status;
      };
      const id = `${fresh()}`;
      await target.sql(`INSERT INTO orders (id, label) VALUES (${id}, 'before')`);
      const honest = await ask('records:write', 'PATCH', `/orders/${id}`, { label: 'before' }, id);
      const statuses = [
        await ask('records:read', 'PATCH', `/orders/${id}`, { label: 'after' }, id),
        await ask('records:action', 'PUT', `/orders/${id}`, { label: 'after' }, id),
        await ask('records:read', 'DELETE', '/orders', { ids: [id] }),
      ];
      const [label] = await target.rows(`SELECT label FROM orders WHERE id = ${id}`);
      return verdict(label !== 'before' || statuses.some((status) => status !== 403), { honest, statuses, label });
    },
    protection: [
      { file: 'src/rest/token-scope.ts', text: 'if (!token.scopes.includes(scope))', into: 'if (!token.scopes)' },
    ],
  },
  {
    id: 'held-program-answers-for-its-user',
    finding: 'data held',
    title: "a program writes what its user must be asked about, through the agent's HTTP API",
    place: shop,
    async attack(target) {
      const attacker = await target.person({ permissions: { '*': { ...all, approval: { edit: 'ask' } } } });
      const { secret } = await target.store.tokens.create({
        ...{ userId: attacker.id, name: 'robot', scopes: ['records:write'] },
      });
      const id = `${fresh()}`;
      await target.sql(`INSERT INTO orders (id, label) VALUES (${id}, 'before')`);
      const response = await fetch(`${target.apiUrl}/orders/${id}`, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ data: { type: 'orders', id, attributes: { label: 'after' } } }),
      });
      const [label] = await target.rows(`SELECT label FROM orders WHERE id = ${id}`);
      return verdict(label !== 'before' || response.ok, { label, status: response.status });
    },
    protection: [
      {
        file: 'src/rest/approval.ts',
        text: "(byProgram && policy === 'ask')",
        into: "(byProgram && policy === 'deny')",
      },
    ],
  },
  {
    id: 'held-limits-of-the-address',
    finding: 'data held',
    title: 'an address that is limited to reading, or to one collection, does more',
    place: shop,
    async attack(target) {
      const attacker = await target.person();
      const id = fresh();
      await target.sql(`INSERT INTO customers (id, name) VALUES (${id}, 'before')`);
      const change = { collectionName: 'customers', recordId: id, attributes: { name: 'after' } };
      const answers = [];
      for (const query of ['?readonly=true', '?collections=orders', '?collections=orders&readonly=true'])
        answers.push(await target.caller(attacker.token, query).call('update', change));
      const list = await target
        .caller(attacker.token, '?collections=orders')
        .call('list', { collectionName: 'customers' });
      const [name] = await target.rows(`SELECT name FROM customers WHERE id = ${id}`);
      return verdict(name !== 'before' || typeof list === 'object', { name, answers, list });
    },
    protection: [
      {
        file: 'src/core/caller/restrictions.ts',
        text: 'collections === null || collections.has(collection);',
        into: "collections === null || collection !== '';",
      },
    ],
  },
  {
    id: 'held-approval-page-of-another',
    finding: 'data held',
    title: 'the page of an approval shows a record to somebody who may not see it',
    place: shop,
    async attack(target) {
      const owner = await target.person({ permissions: { '*': { ...all, approval: { edit: 'ask-person' } } } });
      const other = await target.person({ permissions: { '*': all, orders: none } });
      const id = fresh();
      await target.sql(`INSERT INTO orders (id, label) VALUES (${id}, 'SECRET-${id}')`);
      const change = { collectionName: 'orders', recordId: id, attributes: { label: `OTHER-${id}` } };
      const pending = (await owner.call('update', change)) as { approve: string };
      const { page } = await other.visit(new URL(pending.approve).pathname.replace('/console', ''));
      return verdict(page.status === 200 || /SECRET-|OTHER-/.test(page.html), { status: page.status });
    },
    protection: [
      {
        file: 'src/console/pages/approvals/review.ts',
        text: "if (!callPreview) return isOwn ? { approval, may: 'no', ...emptyReview } : undefined;",
        into: "if (!callPreview) return { approval, may: 'no', ...emptyReview };",
      },
    ],
  },
  {
    id: 'held-admin-log-for-others',
    finding: 'data held',
    title: 'somebody who is no administrator reads the admin log with a token of their own',
    place: shop,
    async attack(target) {
      const attacker = await target.person({ level: 'editor' });
      const { secret } = await target.store.tokens.create({ userId: attacker.id, name: 'log', scopes: ['all'] });
      const response = await fetch(`${target.origin}/v1/project/My%20project/admin-logs`, {
        headers: { authorization: `Bearer ${secret}` },
      });
      return verdict(response.ok, { status: response.status });
    },
    protection: [
      {
        file: 'src/api/router.ts',
        text: "if (admin && access.caller.permissionLevel !== 'admin') {",
        into: 'if (admin && !access) {',
      },
    ],
  },
  {
    id: 'held-none-is-not-all',
    finding: 'data held',
    title: 'a call without ids deletes everything, or is said to have gone well',
    place: shop,
    async attack(target) {
      const attacker = await target.person();
      const count = () => target.rows('SELECT count(*) FROM pairs');
      const before = await count();
      const answers: unknown[] = [];
      for (const ids of ['[]', 'null', '""', '[null]', '[[]]', '"*"', '{}'])
        answers.push(await attacker.raw('delete', `{"collectionName":"pairs","recordIds":${ids}}`));
      answers.push(await attacker.raw('delete', '{"collectionName":"pairs"}'));
      answers.push((await attacker.http('DELETE', '/pairs', { data: { attributes: { ids: [] } } })).status);
      answers.push((await attacker.http('DELETE', '/pairs')).status);
      const good = answers.filter((answer) => typeof answer === 'object' || answer === 200 || answer === 204);
      return verdict(before.join() !== (await count()).join() || good.length > 0, { before, good, answers });
    },
    protection: [
      {
        file: 'src/mcp/input/record-ids.ts',
        text: 'return some.length > 0 ? some : invalid(',
        into: 'return some.length >= 0 ? some : invalid(',
      },
      {
        file: 'src/agent/write/target.ts',
        text: 'if (!Array.isArray(given) || given.length === 0)',
        into: 'if (!Array.isArray(given))',
      },
    ],
  },
  {
    id: 'held-backtracking',
    isSlow: true,
    finding: 'data held',
    title: 'a regular expression that goes back holds the process (CWE-1333)',
    place: shop,
    async attack(target) {
      const [attacker, other] = [await target.person(), await target.person()];
      const id = fresh();
      await target.sql(`INSERT INTO orders (id, label) VALUES (${id}, '${'a'.repeat(40)}!')`);
      const filters = {
        aggregator: 'And',
        conditions: [
          { field: 'id', operator: 'Equal', value: id },
          { field: 'label', operator: 'Match', value: '^(a+)+$' },
        ],
      };
      const honest = listOf(other, 'tags');
      await honest();
      const felt = await feel(target, () => attacker.call('list', { collectionName: 'orders', filters }), {
        honest,
        mostMs: 4000,
      });
      return verdict(isHeldUp(felt), felt);
    },
    protection: [
      {
        file: 'src/agent/sources/pattern.ts',
        text: 'test: (text) => compiled.test(text)',
        into: 'test: (text) => new RegExp(source).test(text)',
      },
    ],
  },
  {
    id: 'held-nine-relations',
    finding: 'data held',
    title: 'a path follows as many relations as it likes',
    place: shop,
    async attack(target) {
      const attacker = await target.person();
      const path = `${'boss:'.repeat(30)}name`;
      const answer = await attacker.call('list', { collectionName: 'staff', fields: [path] });
      return verdict(!/^(INVALID_ARGUMENT|UNKNOWN)/.test(String(answer)), answer);
    },
    protection: [
      {
        file: 'src/agent/resolve/names.ts',
        text: 'export const MAX_PATH_SEGMENTS = 8;',
        into: 'export const MAX_PATH_SEGMENTS = 1e9;',
      },
    ],
  },
];
