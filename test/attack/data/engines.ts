// Tables without transactions must refuse every operation that previews a write and rolls it back.
import { type Attack, type Place, verdict } from '../attack.ts';
import { all } from '../target.ts';

const old: Place = {
  name: 'tables without transactions',
  tables: () => [
    'CREATE TABLE old (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(10), owner VARCHAR(10)) ENGINE=MyISAM',
    "INSERT INTO old VALUES (1, 'one', 'a'), (2, 'two', 'a'), (3, 'three', 'a')",
  ],
};
const on = ['mariadb'] as const;
const protection = [
  {
    file: 'src/agent/sources/sql/mysql/introspect.ts',
    text: "if (engine !== null && transactions !== 'YES')\n      found.set(",
    into: "if (engine === 'none')\n      found.set(",
  },
] as const;

export const engineAttacks: readonly Attack[] = [
  {
    id: 'data-1-dry-run-writes',
    finding: 'data 1',
    title: 'a dry run deletes for real where a rollback takes nothing back',
    ...{ on, place: old, protection },
    async attack(target) {
      const attacker = await target.person();
      const answer = await attacker.call('delete', { collectionName: 'old', recordIds: ['1'], dryRun: true });
      const left = await target.rows('SELECT id FROM old WHERE id = 1');
      return verdict(left.length === 0, { left, answer });
    },
  },
  {
    id: 'data-1-pending-is-done',
    finding: 'data 1',
    title: 'a delete that waits for a second person has been done already',
    ...{ on, place: old, protection },
    async attack(target) {
      const approval = { delete: { policy: 'ask-person', secondPerson: true } } as const;
      const attacker = await target.person({ permissions: { '*': { ...all, approval } } });
      const answer = await attacker.call('delete', { collectionName: 'old', recordIds: ['2'] });
      const left = await target.rows('SELECT id FROM old WHERE id = 2');
      return verdict(left.length === 0, { left, answer });
    },
  },
  {
    id: 'data-1-refused-stays',
    finding: 'data 1',
    title: 'an update that is refused for its row scope stays in the table',
    ...{ on, place: old, protection },
    async attack(target) {
      const attacker = await target.person();
      await attacker.scope('old', { field: 'owner', operator: 'Equal', value: 'a' });
      const change = { collectionName: 'old', recordId: '3', attributes: { owner: 'b' } };
      const answer = await attacker.call('update', change);
      const [owner] = await target.rows('SELECT owner FROM old WHERE id = 3');
      return verdict(owner === 'b', { owner, answer });
    },
  },
];
