// Several records at once in the console: forged forms, records and fields that are not the attacker's to change, and a
// confirmation of something else than the preview showed.
import { type Attack, verdict } from '../attack.ts';
import { unscoped } from '../data/scope.ts';
import { fresh, shop } from '../data/shop.ts';
import { feel, isHeldUp, listOf } from '../standstill.ts';
import { all, type Person, type Target } from '../target.ts';

const on = ['sqlite'] as const;

async function orders(target: Target, label = 'before'): Promise<readonly number[]> {
  const ids = [fresh(), fresh()];
  await target.sql(`INSERT INTO orders (id, label, total) VALUES ${ids.map((id) => `(${id}, '${label}', 10)`).join()}`);
  return ids;
}
const totals = async (target: Target, ids: readonly number[]) =>
  (await target.rows(`SELECT total FROM orders WHERE id IN (${ids.join()}) ORDER BY id`)).join();

/** Posts forms to the page of several records, in a session of the attacker. */
async function open(target: Target, attacker: Person) {
  const visit = await attacker.visit('/data/orders');
  const csrf = /name="csrf" value="([^"]+)"/.exec(visit.page.html)?.[1] ?? '';
  const post = (
    ids: readonly (number | string)[],
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ) => {
    const body = new URLSearchParams({ csrf, list: '', which: 'selected', ...fields });
    for (const id of ids) body.append('record', `${id}`);
    const own = { 'sec-fetch-site': 'same-origin', origin: new URL(target.consoleUrl).origin };
    return visit.open('/bulk/orders', { method: 'POST', body, headers: { ...own, ...headers } });
  };
  /** Previews and confirms, as the buttons of the pages do. */
  const change = async (ids: readonly number[], fields: Record<string, string>, between?: () => Promise<unknown>) => {
    const given = { deed: 'change', ...fields };
    const preview = await post(ids, { ...given, action: 'review' });
    await between?.();
    const read = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(preview.html)?.[1] ?? '';
    const done = await post(ids, { ...given, action: 'confirm', seen: read('seen'), key: read('key') });
    return { statuses: [preview.status, done.status], html: preview.html + done.html };
  };
  return { post, change };
}
const total = { field: 'total', 'value.total': '77' };

export const severalAttacks: readonly Attack[] = [
  {
    id: 'held-several-forged',
    finding: 'web held',
    title: 'a page of another site changes several records of who is signed in (CWE-352)',
    place: shop,
    on,
    async attack(target) {
      const ids = await orders(target);
      const { post } = await open(target, await target.person());
      const given = { deed: 'delete', action: 'review', csrf: 'x' };
      const page = await post(ids, given, { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' });
      return verdict(page.html.includes('value="confirm"'), { status: page.status });
    },
    protection: [
      {
        file: 'src/console/router.ts',
        text: "if (posted && !(isOwnPage(req, paths) && (await parts.sessions.isToken(visitor, request.form.get('csrf') ?? '')))) {",
        into: 'if (posted && !visitor) {',
      },
    ],
  },
  {
    id: 'held-several-out-of-scope',
    finding: 'data held',
    title: 'ids of records that the row scope hides are changed beside one that may be',
    place: shop,
    async attack(target) {
      const attacker = await target.person();
      await attacker.scope('orders', { field: 'label', operator: 'Equal', value: 'mine' });
      const [[mine], others] = [await orders(target, 'mine'), await orders(target, `SECRET-${fresh()}`)];
      const { change } = await open(target, attacker);
      const { statuses, html } = await change([mine!, ...others], total);
      const after = await totals(target, others);
      return verdict(after !== '10,10' || html.includes('SECRET-'), { statuses, after });
    },
    protection: [unscoped],
  },
  {
    id: 'held-several-without-delete',
    finding: 'data held',
    title: 'a role that may not delete deletes several records',
    place: shop,
    on,
    async attack(target) {
      const ids = await orders(target);
      const attacker = await target.person({ permissions: { '*': all, orders: { ...all, delete: false } } });
      const { change } = await open(target, attacker);
      const { statuses } = await change(ids, { deed: 'delete' });
      return verdict((await totals(target, ids)) !== '10,10', { statuses });
    },
    protection: [
      {
        file: 'src/agent/write/target.ts',
        text: "if (!access.can(verb, name)) fail('FORBIDDEN'",
        into: "if (!access) fail('FORBIDDEN'",
      },
      {
        file: 'src/console/pages/data/rights.ts',
        text: 'described.permissions.delete && isWritable(',
        into: 'described && isWritable(',
      },
    ],
  },
  {
    id: 'held-several-pass-approval',
    finding: 'data held',
    title: 'a change of several records is made without the yes of the person that the role needs',
    place: shop,
    async attack(target) {
      const ids = await orders(target);
      const attacker = await target.person({ permissions: { '*': { ...all, approval: { edit: 'ask-person' } } } });
      const { change } = await open(target, attacker);
      const { statuses } = await change(ids, total);
      return verdict((await totals(target, ids)) !== '10,10', { statuses });
    },
    protection: [
      {
        file: 'src/mcp/approvals/approval.ts',
        text: "if (policy.policy === 'allow') return { state: 'clear', access };",
        into: "if (policy) return { state: 'clear', access };",
      },
    ],
  },
  {
    id: 'held-several-after-another-change',
    finding: 'data held',
    title: 'a confirmation overwrites values that the preview did not show',
    place: shop,
    async attack(target) {
      const ids = await orders(target);
      const { change } = await open(target, await target.person());
      const { statuses } = await change(ids, total, () =>
        target.sql(`UPDATE orders SET total = 55 WHERE id = ${ids[0]}`),
      );
      const after = await totals(target, ids);
      return verdict(after === '77,77', { statuses, after });
    },
    protection: [
      {
        file: 'src/console/pages/data/change.ts',
        text: "if (form.get('seen') !== previewHash(change, tried)) return",
        into: "if (form.get('seen') === null) return",
      },
    ],
  },
  {
    id: 'held-several-thousands',
    finding: 'data held',
    title: 'thousands of ids in one form hold others up (CWE-770)',
    place: shop,
    isSlow: true,
    async attack(target) {
      const [attacker, other] = [await target.person(), await target.person()];
      const { post } = await open(target, attacker);
      const ids = Array.from({ length: 40_000 }, (_, at) => at);
      const statuses: number[] = [];
      const felt = await feel(
        target,
        async () => {
          for (let at = 0; at < 5; at++)
            statuses.push((await post(ids, { deed: 'change', action: 'review', ...total })).status);
        },
        { honest: listOf(other, 'tags') },
      );
      return verdict(isHeldUp(felt) || statuses.some((status) => status !== 400), { felt, statuses });
    },
    protection: [
      {
        file: 'src/console/pages/data/list/bulk.ts',
        text: 'if (bulk.ids.length > RECORDS_LIMIT)',
        into: 'if (bulk.ids.length < 0)',
      },
      {
        file: 'src/console/form-data.ts',
        text: "if (countOf(body, '&', MAX_FIELDS) >= MAX_FIELDS) refuse(",
        into: "if (countOf(body, '&', MAX_FIELDS) < 0) refuse(",
      },
    ],
  },
];
