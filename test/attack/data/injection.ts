// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of the source
// Texts that try to be interpreted as something else: SQL, patterns, property names of JavaScript, ids of other
// records.
import { type Attack, verdict } from '../attack.ts';
import type { Person } from '../target.ts';
import { fresh, shop } from './shop.ts';

/** Texts that would end a literal or an identifier, or start a comment, in one of the databases. */
const hostile = [
  "x' OR '1'='1",
  "'; DROP TABLE tags; --",
  "'); DELETE FROM tags; --",
  '" OR 1=1 --',
  '` OR 1=1 #',
  "\\' OR 1=1 --",
  "x' UNION SELECT name FROM staff --",
  '/*!50000 UNION SELECT 1 */',
  '$$; DROP TABLE tags; $$',
  '1; SELECT pg_sleep(5)',
  '?',
  ':name',
  '{{currentUser.id}}',
  '%00',
  '\u2019 OR 1=1',
] as const;

const leaf = (field: string, operator: string, value: unknown) => ({ field, operator, value });

/** Every parameter of a call that takes a text. */
const places = (text: string): readonly (readonly [string, Record<string, unknown>])[] => [
  ['list', { collectionName: 'orders', filters: leaf('label', 'Equal', text) }],
  ['list', { collectionName: 'orders', filters: leaf('label', 'In', [text, 'y']) }],
  ['list', { collectionName: 'orders', filters: leaf('label', 'Contains', text) }],
  ['list', { collectionName: 'orders', filters: leaf('customer:name', 'StartsWith', text) }],
  ['list', { collectionName: 'orders', filters: leaf(text, 'Equal', 1) }],
  ['list', { collectionName: 'orders', filters: leaf('id', text, 1) }],
  ['list', { collectionName: 'orders', sort: [{ field: text }] }],
  ['list', { collectionName: 'orders', fields: [text] }],
  ['list', { collectionName: text }],
  ['list', { collectionName: 'orders', search: text }],
  ['list', { collectionName: 'orders', cursor: text }],
  ['list', { collectionName: 'orders', segment: text }],
  ['list', { collectionName: 'orders', timezone: text }],
  ['aggregate', { collectionName: 'orders', operation: text, field: 'total' }],
  ['aggregate', { collectionName: 'notes', operation: 'Count', groups: [{ field: 'at_time', bucket: text }] }],
  ['listRelated', { collectionName: 'customers', recordId: text, relationName: text }],
  ['update', { collectionName: 'orders', recordId: text, attributes: { label: text } }],
  ['delete', { collectionName: 'orders', recordIds: [text] }],
  ['executeAction', { collectionName: 'orders', actionName: text, recordIds: ['1'] }],
  ['getChart', { chartName: text }],
];

async function internals(person: Person, texts: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const text of texts)
    for (const [tool, args] of places(text)) {
      const answer = await person.call(tool, args);
      if (/^INTERNAL|^DATABASE_FAILED/.test(String(answer))) found.push(`${tool} ${JSON.stringify(args)}: ${answer}`);
    }
  return found;
}

export const injectionAttacks: readonly Attack[] = [
  {
    id: 'held-sql-in-texts',
    isSlow: true,
    finding: 'data held',
    title: 'a text of a call reaches SQL: 15 texts in 20 places (CWE-89)',
    place: shop,
    async attack(target) {
      const attacker = await target.person();
      const before = await target.rows('SELECT count(*) FROM tags');
      const open = await attacker.call('list', {
        collectionName: 'orders',
        filters: leaf('label', 'Equal', hostile[0]),
      });
      const failures = await internals(attacker, hostile);
      const after = await target.rows('SELECT count(*) FROM tags');
      const rows = (open as { rows?: unknown[] }).rows ?? [];
      const isOpen = rows.length > 0 || failures.length > 0 || before.join() !== after.join();
      return verdict(isOpen, { rows, failures: failures[0], tags: [before, after] });
    },
    protection: [
      {
        file: 'src/agent/sources/sql/statements/terms.ts',
        text: "  binds.push({ value: index, encode });\n  return codec.parameter?.(kindOf(codec, value)) ?? '?';",
        into: "  if (typeof value === 'string') return `'${value}'`;\n  binds.push({ value: index, encode });\n  return codec.parameter?.(kindOf(codec, value)) ?? '?';",
      },
    ],
  },
  {
    id: 'held-names-of-the-language',
    finding: 'data held',
    title: '__proto__, constructor and toString are taken for names, or change what all objects have (CWE-1321)',
    place: shop,
    async attack(target) {
      const attacker = await target.person();
      const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype'];
      const failures = await internals(attacker, names);
      const raw = await attacker.raw(
        'create',
        '{"collectionName":"tags","attributes":{"label":"x","__proto__":{"browse":true}},"__proto__":{"dryRun":true}}',
      );
      const list = await attacker.call('list', { collectionName: 'tags' });
      return verdict(failures.length > 0 || typeof list === 'string' || /INTERNAL/.test(String(raw)), {
        failures,
        raw,
      });
    },
    protection: [
      {
        file: 'src/agent/operations/call.ts',
        text: 'const found = model.collections.get(name);',
        into: 'const found = (Object.fromEntries(model.collections) as Record<string, Collection>)[name];',
      },
      {
        file: 'src/agent/operations/call.ts',
        text: 'if (found && mayBrowse(access, found)) {',
        into: 'if (found) {',
      },
    ],
  },
  {
    id: 'held-wildcards-are-letters',
    finding: 'data held',
    title: '% and _ in a text that is looked for match anything',
    place: shop,
    async attack(target) {
      const attacker = await target.person();
      const counts: number[] = [];
      for (const value of ['%', '_', 'b%s', 'b__ts', '*', '?oots', '[a-z]', '\\'])
        for (const operator of ['Contains', 'StartsWith', 'IContains']) {
          const answer = await attacker.call('list', {
            collectionName: 'orders',
            filters: leaf('label', operator, value),
          });
          counts.push((answer as { rows?: unknown[] }).rows?.length ?? -1);
        }
      return verdict(
        counts.some((count) => count !== 0),
        counts,
      );
    },
    protection: [
      {
        file: 'src/agent/sources/sql/statements/patterns.ts',
        text: "char === '%' || char === '_' || char === mark ? mark + char : char,",
        into: 'char,',
      },
      {
        file: 'src/agent/sources/sql/statements/patterns.ts',
        text: 'const text = String(value);\n  switch (operator) {',
        into: "const text = String(value).replaceAll('_', '?');\n  if (/[%?*]/.test(text)) return [MANY];\n  switch (operator) {",
      },
    ],
  },
  {
    id: 'held-ids-with-bars',
    finding: 'data held',
    title: 'two records of a composite key have one id, so that the other one is changed',
    place: shop,
    async attack(target) {
      const attacker = await target.person();
      const key = fresh();
      await target.sql(`INSERT INTO pairs VALUES ('${key}|x', 'y', 'first'), ('${key}', 'x|y', 'second')`);
      const answer = await attacker.call('list', {
        collectionName: 'pairs',
        filters: leaf('a', 'StartsWith', String(key)),
      });
      const { rows } = (await attacker.call('list', { collectionName: 'pairs', fields: ['a', 'b'] })) as {
        rows: unknown[];
      };
      const related = await attacker.http('GET', `/pairs?fields[pairs]=name`);
      const ids = (JSON.parse(related.text) as { data: { id: string }[] }).data.map(({ id }) => id);
      return verdict(new Set(ids).size !== ids.length, { ids, rows: rows.length, answer });
    },
    protection: [{ file: 'src/agent/encode/record-id.ts', text: ".replace(/[|\\\\]/g, '\\\\$&')", into: '' }],
  },
  {
    id: 'held-cursors-forged',
    finding: 'data held',
    title: 'a cursor of another query, made by hand, or bent, is taken',
    place: shop,
    async attack(target) {
      const attacker = await target.person();
      const list = (more: object) =>
        attacker.call('list', { collectionName: 'orders', pagination: { size: 1 }, ...more });
      const { nextCursor } = (await list({})) as { nextCursor: string };
      const values = JSON.parse(Buffer.from(nextCursor, 'base64url').toString()) as unknown[];
      const made = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
      const taken: unknown[] = [];
      for (const more of [
        { cursor: nextCursor, filters: leaf('total', 'GreaterThan', 15) },
        { cursor: nextCursor, sort: [{ field: 'label' }] },
        { cursor: nextCursor, collectionName: 'tags' },
        { cursor: made('mark', 0) },
        { cursor: made(values[0], { $gt: 0 }) },
        { cursor: made(values[0], "0' OR 1=1 --") },
        { cursor: made(values[0], 1, 2) },
        { cursor: made() },
        { cursor: `${nextCursor}!` },
        { cursor: nextCursor.slice(1) },
        { cursor: 'x'.repeat(100_000) },
      ]) {
        const answer = await list(more);
        if (!/^INVALID_(CURSOR|VALUE)/.test(String(answer))) taken.push([more, answer]);
      }
      return verdict(taken.length > 0, { taken });
    },
    protection: [
      {
        file: 'src/agent/encode/cursor.ts',
        text: 'return isWhole && marked === mark ? values : [];',
        into: 'return values;',
      },
    ],
  },
];
