// Rows and fields that a role or a row scope hides: no call returns them, and no answer reveals whether they exist.
import { type Attack, verdict } from '../attack.ts';
import { all, type Person, type Target } from '../target.ts';
import { fresh, shop } from './shop.ts';

/** Switches off all row scopes. */
export const unscoped = {
  file: 'src/agent/lower/filter.ts',
  text: 'if (plain === null) return always;',
  into: 'if (plain !== undefined) return always;',
} as const;
export const allVisible = {
  file: 'src/agent/resolve/visibility.ts',
  text: "(access.field(collection.name, name) !== 'hidden' &&",
  into: '((access !== undefined || name !== undefined) &&',
} as const;

const allBrowsed = {
  file: 'src/agent/operations/call.ts',
  text: 'if (found && mayBrowse(access, found)) {',
  into: 'if (found) {',
} as const;
const allWritable = {
  file: 'src/agent/write/target.ts',
  text: "access.field(collection.name, column.name) === 'write' && (!column.route",
  into: '(!column.route',
} as const;

type Call = readonly [tool: string, args: Record<string, unknown>];

const leaf = (field: string, operator: string, value: unknown) => ({ field, operator, value });

/** Calls that name a field, directly and through a relation. */
const waysToName = (field: string): readonly Call[] =>
  [
    ['customers', field],
    ['orders', `customer:${field}`],
  ].flatMap(([collectionName, path]): readonly Call[] => [
    ['list', { collectionName, fields: ['id', path] }],
    ['list', { collectionName, filters: leaf(path!, 'StartsWith', 'SEC') }],
    ['list', { collectionName, filters: { aggregator: 'Not', conditions: [leaf(path!, 'Equal', 'x')] } }],
    ['list', { collectionName, sort: [{ field: path }] }],
    ['aggregate', { collectionName, operation: 'Max', field: path }],
    ['aggregate', { collectionName, operation: 'Count', groups: [path] }],
    ['list', { collectionName, search: `${field}:SECRET` }],
    ['update', { collectionName: 'customers', recordId: '1', attributes: { [field]: 'x' }, dryRun: true }],
  ]);

async function answersOf(person: Person, calls: readonly Call[]): Promise<readonly string[]> {
  const answers: string[] = [];
  for (const [tool, args] of calls) answers.push(JSON.stringify(await person.call(tool, args)));
  return answers;
}

/** The first pair of answers that differ. */
const firstDifference = (ones: readonly string[], others: readonly string[]) =>
  ones.flatMap((one, at) => (one === others[at] ? [] : [[one.slice(0, 200), others[at]!.slice(0, 200)]]))[0];

/** A user with a row scope on customers in Oslo. Of the first three customers they see only number 1. */
async function clerkOfOslo(target: Target, permissions = { '*': all }): Promise<Person> {
  const clerk = await target.person({ permissions });
  await clerk.scope('customers', leaf('city', 'Equal', 'Oslo'));
  return clerk;
}

export const scopeAttacks: readonly Attack[] = [
  {
    id: 'held-hidden-field-by-name',
    finding: 'data held',
    title: 'a hidden field is shown, or known from a name that is not there, in 16 ways to name it (CWE-203)',
    place: shop,
    async attack(target) {
      const attacker = await target.person({
        permissions: { '*': all, customers: { ...all, fields: { secret: 'hidden' } } },
      });
      const hidden = (await answersOf(attacker, waysToName('secret'))).map((text) => text.replaceAll('secret', 'NAME'));
      const missing = (await answersOf(attacker, waysToName('sekrat'))).map((text) =>
        text.replaceAll('sekrat', 'NAME'),
      );
      const difference = firstDifference(hidden, missing);
      return verdict(difference !== undefined || hidden.join().includes('SECRET-'), { difference, first: hidden[0] });
    },
    protection: [allVisible],
  },
  {
    id: 'held-hidden-field-in-passing',
    finding: 'data held',
    title: 'a hidden field is shown by a list of all fields, a search, a description, or the diff of a dry run',
    place: shop,
    async attack(target) {
      const attacker = await target.person({
        permissions: { '*': all, customers: { ...all, fields: { secret: 'hidden' } } },
      });
      const answers = await answersOf(attacker, [
        ['list', { collectionName: 'customers' }],
        ['list', { collectionName: 'customers', search: 'SECRET', shouldSearchInRelation: true }],
        ['list', { collectionName: 'orders', search: 'SECRET', searchExtended: true }],
        ['describeCollection', { collectionName: 'customers' }],
        ['describeCollection', { collectionName: 'orders' }],
        ['delete', { collectionName: 'tags', recordIds: ['2'], dryRun: true }],
        ['update', { collectionName: 'customers', recordId: '1', attributes: { name: 'Other' }, dryRun: true }],
        ['listRelated', { collectionName: 'customers', recordId: '1', relationName: 'orders' }],
      ]);
      const rest = await attacker.http('GET', '/customers?fields[customers]=id,name');
      const leak = [...answers, rest.text].find((text) => /secret/i.test(text.replaceAll(/"search"?:"SECRET"/g, '')));
      return verdict(leak !== undefined, { leak, answered: answers.length, first: answers[0] });
    },
    protection: [allVisible],
  },
  {
    id: 'held-unseen-rows-read',
    finding: 'data held',
    title: 'rows outside the row scope are read, counted, or told from missing ones, through relations and aggregates',
    place: shop,
    async attack(target) {
      const clerk = await clerkOfOslo(target);
      const probe = (name: string, id: number): readonly Call[] => [
        ['list', { collectionName: 'customers', filters: leaf('name', 'Equal', name), enableCount: true }],
        ['list', { collectionName: 'customers', search: name }],
        ['list', { collectionName: 'orders', filters: leaf('customer:name', 'Equal', name), enableCount: true }],
        ['aggregate', { collectionName: 'orders', operation: 'Count', filters: leaf('customer:name', 'Equal', name) }],
        ['list', { collectionName: 'customers', filters: leaf('id', 'Equal', id) }],
        ['listRelated', { collectionName: 'customers', recordId: id, relationName: 'orders' }],
        [
          'list',
          {
            collectionName: 'tags',
            filters: { some: 'order_tags:order:customer', where: leaf('name', 'Equal', name) },
          },
        ],
      ];
      const strip = (text: string) => text.replaceAll(/Bo|Zz|\b2\b|77777/g, '_');
      const unseen = (await answersOf(clerk, probe('Bo', 2))).map(strip);
      const missing = (await answersOf(clerk, probe('Zz', 77_777))).map(strip);
      const difference = firstDifference(unseen, missing);
      const passing = await answersOf(clerk, [
        ['list', { collectionName: 'customers' }],
        ['list', { collectionName: 'orders', fields: ['id', 'customer:name', 'customer_name'] }],
        ['aggregate', { collectionName: 'customers', operation: 'Max', field: 'name' }],
        ['aggregate', { collectionName: 'orders', operation: 'Count', groups: ['customer:name'] }],
        ['list', { collectionName: 'orders', sort: [{ field: 'customer:name' }], fields: ['customer:name'] }],
      ]);
      const leak = passing.find((text) => /"(Bo|Cy)"/.test(text));
      return verdict(difference !== undefined || leak !== undefined, { difference, leak, answers: passing[1] });
    },
    protection: [unscoped],
  },
  {
    id: 'held-unseen-rows-written',
    finding: 'data held',
    title: 'rows outside the row scope are changed, deleted, made, linked to, or moved to',
    place: shop,
    async attack(target) {
      const id = fresh();
      await target.sql(
        `INSERT INTO customers (id, name, city) VALUES (${id}, 'theirs', 'Rome'), (${id + 1000}, 'mine', 'Oslo')`,
        `INSERT INTO orders (id, label) VALUES (${id}, 'any')`,
      );
      const clerk = await clerkOfOslo(target);
      const rows = () =>
        target.rows(
          `SELECT id, name, city FROM customers WHERE id IN (${id}, ${id + 1000}) OR name = 'made ${id}' ORDER BY id`,
        );
      const before = [...(await rows()), ...(await target.rows(`SELECT customer_id FROM orders WHERE id = ${id}`))];
      const collectionName = 'customers';
      const answers = await answersOf(clerk, [
        ['update', { collectionName, recordId: id, attributes: { name: 'changed' } }],
        ['update', { collectionName, recordIds: [id, id + 1000], attributes: { name: 'changed' } }],
        ['update', { collectionName, recordId: id + 1000, attributes: { city: 'Rome' } }],
        ['create', { collectionName, attributes: { name: `made ${id}`, city: 'Rome' } }],
        ['update', { collectionName: 'orders', recordId: id, attributes: { customer_id: id } }],
        ['associate', { collectionName, recordId: id, relationName: 'orders', targetIds: [String(id)] }],
        ['delete', { collectionName, recordIds: [String(id), String(id + 1000)] }],
        ['delete', { collectionName, recordIds: [String(id)] }],
      ]);
      const rest = await clerk.http('DELETE', `/customers/${id}`);
      const after = [...(await rows()), ...(await target.rows(`SELECT customer_id FROM orders WHERE id = ${id}`))];
      return verdict(before.join() !== after.join(), { before, after, rest: rest.status, answers: answers[0] });
    },
    protection: [unscoped],
  },
  {
    id: 'held-scope-of-a-missing-tag',
    finding: 'data held',
    title: 'somebody without the tag that a row scope names sees all rows',
    place: shop,
    async attack(target) {
      const clerk = await target.person();
      await clerk.scope('customers', leaf('city', 'Equal', '{{currentUser.tags.city}}'));
      const answer = await clerk.call('list', { collectionName: 'customers' });
      return verdict(/Ada|Bo/.test(JSON.stringify(answer)), { answer });
    },
    protection: [unscoped],
  },
  {
    id: 'held-read-only-field',
    finding: 'data held',
    title: 'a field that is read only for the role is written, by tool and by HTTP',
    place: shop,
    async attack(target) {
      const id = fresh();
      await target.sql(`INSERT INTO customers (id, name, city) VALUES (${id}, 'x', 'Rome')`);
      const attacker = await target.person({
        permissions: { '*': all, customers: { ...all, fields: { city: 'read' } } },
      });
      const change = { collectionName: 'customers', recordId: id, attributes: { city: 'Oslo' } };
      const answer = await attacker.call('update', change);
      const data = { type: 'customers', id: String(id), attributes: { city: 'Oslo' } };
      const rest = await attacker.http('PUT', `/customers/${id}`, { data });
      const [city] = await target.rows(`SELECT city FROM customers WHERE id = ${id}`);
      return verdict(city !== 'Rome', { city, answer, rest: rest.status });
    },
    protection: [allWritable],
  },
  {
    id: 'held-other-doors-of-unseen-collection',
    finding: 'data held',
    title: 'a collection that may not be browsed is named by resources, prompts, statistics or the HTTP API',
    place: shop,
    async attack(target) {
      const permissions = { '*': all, staff: { ...all, browse: false, read: false } };
      const attacker = await target.person({ permissions });
      const texts: string[] = [];
      for (const path of [
        '/staff',
        '/staff/7',
        '/staff.csv?fields[staff]=name',
        '/staff/count',
        '/orders/1/relationships/approved',
      ])
        texts.push((await attacker.http('GET', path)).text);
      const answers = await answersOf(attacker, [
        ['describeCollection', {}],
        ['describeCollection', { collectionName: 'orders' }],
        ['list', { collectionName: 'staff' }],
        ['list', { collectionName: 'orders', fields: ['approved:name'] }],
        ['list', { collectionName: 'orders' }],
        ['getChart', { chartName: 'staff' }],
      ]);
      const leak = [...texts, ...answers].find((text) => /Boss|Chief/.test(text));
      const named = /"staff"/.test(answers[0]!);
      return verdict(leak !== undefined || named, { leak, named, index: answers[0] });
    },
    protection: [allBrowsed],
  },
  {
    id: 'held-statistics-of-hidden-field',
    finding: 'data held',
    title: 'a statistic or a leaderboard of the HTTP API shows a hidden field, or rows outside the scope',
    place: shop,
    async attack(target) {
      const attacker = await target.person({
        permissions: { '*': all, customers: { ...all, fields: { secret: 'hidden' } } },
      });
      await attacker.scope('customers', leaf('city', 'Equal', 'Oslo'));
      const texts: string[] = [];
      const ask = async (collection: string, body: object) =>
        texts.push((await attacker.http('POST', `/stats/${collection}`, body)).text);
      for (const groupByFieldName of ['secret', 'name'])
        await ask('customers', { type: 'Pie', aggregator: 'Count', groupByFieldName });
      await ask('customers', { type: 'Value', aggregator: 'Max', aggregateFieldName: 'secret' });
      await ask('orders', { type: 'Pie', aggregator: 'Count', groupByFieldName: 'customer:secret' });
      await ask('customers', {
        ...{ type: 'Leaderboard', aggregator: 'Count' },
        ...{ relationshipFieldName: 'orders', labelFieldName: 'secret' },
      });
      await ask('customers', {
        ...{ type: 'Leaderboard', aggregator: 'Count' },
        ...{ relationshipFieldName: 'orders', labelFieldName: 'name' },
      });
      const leak = texts.find((text) => /SECRET|"Bo"|"Cy"/.test(text));
      return verdict(leak !== undefined, { leak, texts });
    },
    protection: [allVisible, unscoped],
  },
];
