// Named queries: their parameters are values, and their rows keep the row scopes and hidden fields of the caller.
import { join } from 'node:path';
import { type Attack, type Place, verdict } from '../attack.ts';
import { allVisible } from '../data/scope.ts';
import { shop } from '../data/shop.ts';
import { all } from '../target.ts';

const queried: Place = { ...shop, name: 'shop with queries', code: join(import.meta.dirname, 'queries-code.ts') };

const spending = (label: string, more: object = {}) => ({
  collectionName: 'spending',
  filters: { field: 'label', operator: 'Equal', value: label },
  ...more,
});

export const queryAttacks: readonly Attack[] = [
  {
    id: 'held-query-parameter-as-sql',
    finding: 'data held',
    title: 'the value of a parameter of a named query changes its statement (CWE-89)',
    place: queried,
    async attack(target) {
      const attacker = await target.person();
      const answers = [];
      for (const value of ["' OR '1'='1", "' OR 1=1 -- ", "\\' OR 1=1 -- ", "boots' OR 'a'='a"])
        answers.push(await attacker.call('list', spending(value)));
      const isBroken = answers.some((answer) => JSON.stringify((answer as { rows?: unknown }).rows ?? []) !== '[]');
      const honest = JSON.stringify(await attacker.call('list', spending('boots')));
      if (!isBroken && !honest.includes('10')) throw new Error(honest);
      return verdict(isBroken, answers);
    },
    // The value becomes part of the text of the query, and stays a bound value as a column.
    protection: [
      {
        file: 'src/agent/sources/sql/statements/query.ts',
        text: 'const written = writeQuery(query, name, placeOf(table).name, placeholder);',
        into: `const inlined = (table === statement.table && statement.parameters) || [];
    let calls = 0;
    const whole = writeQuery(query, name, placeOf(table).name, () =>
      calls++ < inlined.length || inlined.length === 0 ? placeholder() : \`'\${inlined[0]}'\`,
    );
    const written = inlined.length === 0 ? whole : { sql: whole.sql, binds: whole.binds.slice(0, inlined.length) };`,
      },
    ],
  },
  {
    id: 'held-query-out-of-scope',
    finding: 'data held',
    title: 'a named query sums up records of customers that the row scope hides',
    place: queried,
    async attack(target) {
      const attacker = await target.person();
      await attacker.scope('customers', { field: 'city', operator: 'Equal', value: 'Oslo' });
      const answers = [
        await attacker.call('list', spending('hats')),
        await attacker.call('aggregate', { ...spending('hats'), measures: { sum: { sum: 'spent' } } }),
      ];
      return verdict(JSON.stringify(answers).includes('20'), answers);
    },
    protection: [
      {
        file: 'src/agent/lower/filter.ts',
        text: 'return collection.query ? and(own, ...queryScope(access, collection, collection.query)) : own;',
        into: 'return own;',
      },
    ],
  },
  {
    id: 'held-query-without-its-scope',
    finding: 'data held',
    title: 'a team with a row scope on a table reads all its rows by a named query without that scope',
    place: queried,
    async attack(target) {
      const attacker = await target.person();
      await attacker.scope('customers', { field: 'city', operator: 'Equal', value: 'Oslo' });
      const answer = await attacker.call('list', { collectionName: 'totals' });
      return verdict(JSON.stringify(answer).includes('Rome'), answer);
    },
    protection: [
      {
        file: 'src/agent/resolve/visibility.ts',
        text: 'query.unscoped.every((name) => access.scope(name) === null)',
        into: 'query.unscoped.length >= 0',
      },
    ],
  },
  {
    id: 'held-query-hidden-column',
    finding: 'data held',
    title: 'a hidden column of a named query is read, filtered or sorted by',
    place: queried,
    async attack(target) {
      const permissions = { '*': all, totals: { ...all, fields: { secret: 'hidden' } } } as const;
      const attacker = await target.person({ permissions });
      const of = { collectionName: 'totals' };
      const answers = [
        await attacker.call('list', { ...of, fields: ['name', 'secret'] }),
        await attacker.call('list', { ...of, filters: { field: 'secret', operator: 'Equal', value: 'SECRET-a' } }),
        await attacker.call('list', { ...of, sort: [{ field: 'secret' }] }),
        await attacker.call('aggregate', { ...of, measures: { most: { max: 'secret' } } }),
      ];
      return verdict(
        answers.some((answer) => typeof answer === 'object'),
        answers,
      );
    },
    protection: [allVisible],
  },
];
