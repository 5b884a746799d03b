// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of the source
// Foreign keys to collections that the caller may not browse, and paths to them.
import { type Attack, type Place, verdict } from '../attack.ts';
import { all, none } from '../target.ts';
import { fresh, shop } from './shop.ts';

const schemas: Place = {
  name: 'two schemas',
  tables: () => [
    'create schema sales',
    'create table customers (id integer not null primary key, name varchar(20) not null)',
    'create table sales.lines (id integer not null primary key, total integer, customer_id integer references customers (id))',
    "insert into customers values (1, 'Ada'), (2, 'Bo')",
    'insert into sales.lines values (1, 9, 1), (2, 3, 2)',
  ],
  address: (url) => `${url}${url.includes('?') ? '&' : '?'}schema=public,sales`,
};

export const keyAttacks: readonly Attack[] = [
  {
    id: 'data-14-key-of-unseen',
    finding: 'data 14',
    title: 'a foreign key into a collection that may not be browsed tells whether a record is there (CWE-204)',
    place: shop,
    async attack(target) {
      const id = fresh();
      await target.sql(`INSERT INTO orders (id, label) VALUES (${id}, 'mine')`);
      const attacker = await target.person({ permissions: { '*': all, staff: none } });
      const point = async (approved_by: number) =>
        JSON.stringify(
          await attacker.call('update', { collectionName: 'orders', recordId: id, attributes: { approved_by } }),
        );
      const [there, missing] = [await point(8), await point(77_777)];
      const [linked] = await target.rows(`SELECT approved_by FROM orders WHERE id = ${id}`);
      return verdict(there !== missing || linked === '8', { there, missing, linked });
    },
    protection: [
      {
        file: 'src/agent/write/foreign-checks.ts',
        text: '  refuseHiddenForeignKeys(writer.view, drafts);\n',
        into: '',
      },
    ],
  },
  {
    id: 'data-14-key-of-unseen-over-http',
    finding: 'data 14',
    title: 'the same over the HTTP API, and in a new record',
    place: shop,
    async attack(target) {
      const attacker = await target.person({ permissions: { '*': all, staff: none } });
      const point = async (approved_by: number) => {
        const data = { type: 'orders', attributes: { label: 'new', approved_by } };
        const { status, text } = await attacker.http('POST', '/orders', { data });
        return `${status} ${text.replaceAll(/"id":"[^"]*"/g, '')}`;
      };
      const [there, missing] = [await point(8), await point(77_777)];
      return verdict(there !== missing, { there, missing });
    },
    protection: [
      {
        file: 'src/agent/write/foreign-checks.ts',
        text: '  refuseHiddenForeignKeys(writer.view, drafts);\n',
        into: '',
      },
    ],
  },
  {
    id: 'data-16-to-many-of-another-schema',
    finding: 'data 16',
    title: 'a filter through a relation to many into a further schema is INTERNAL',
    on: ['postgres'],
    place: schemas,
    async attack(target) {
      const attacker = await target.person();
      const answer = await attacker.call('list', {
        collectionName: 'customers',
        filters: { some: 'sales.lines', where: { field: 'total', operator: 'GreaterThan', value: 5 } },
      });
      return verdict(!JSON.stringify(answer).includes('Ada'), answer);
    },
    protection: [
      {
        file: 'src/agent/sources/sql/statements/read.ts',
        text: '[`${table(foreign.table)} as',
        into: '[`${name(foreign.table)} as',
      },
    ],
  },
];
