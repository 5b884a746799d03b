// Numbers that JSON rounds to another record id or another amount.
import { type Attack, verdict } from '../attack.ts';
import { fresh, shop } from './shop.ts';

/** Switches off the check in the HTTP endpoints, before JSON is parsed. */
const exactNumbers = { file: 'src/http/body.ts', text: '  requireExactNumbers(bytes);\n', into: '' } as const;

/** Switches off the check of a value against its column. */
const roundedIntegers = {
  file: 'src/core/filter/exact-numbers.ts',
  text: 'Number.isInteger(value) && !Number.isSafeInteger(value)',
  into: "value === 'none'",
} as const;
const roundedInSqlite = {
  file: 'src/agent/sources/sql/sqlite/types.ts',
  text: "if (isRounded || (typeof value === 'string' && typeof number === 'number'))",
  into: "if (isRounded && typeof value === 'string')",
} as const;

/** Above 2^53, at a distance from the ids of other attacks. As doubles, both are the even number. */
const twins = (): readonly [even: string, odd: string] => {
  const even = 9007199254740992n + 4n * BigInt(fresh());
  return [String(even), String(even + 1n)];
};

export const numberAttacks: readonly Attack[] = [
  {
    id: 'data-6-rounded-id',
    finding: 'data 6',
    title: 'a record id above 2^53 as a JSON number deletes another record',
    place: shop,
    async attack(target) {
      const [even, odd] = twins();
      await target.sql(`INSERT INTO snow (id, name) VALUES (${even}, 'even'), (${odd}, 'odd')`);
      const attacker = await target.person();
      const answer = await attacker.raw('delete', `{"collectionName":"snow","recordIds":[${odd}]}`);
      const left = await target.rows(`SELECT name FROM snow WHERE id IN (${even}, ${odd})`);
      return verdict(!left.includes('even'), { left, answer });
    },
    protection: [exactNumbers, roundedIntegers],
  },
  {
    id: 'data-6-rounded-by-the-client',
    finding: 'data 6',
    title: 'a client in JavaScript rounds a record id above 2^53, and the HTTP API deletes another record',
    place: shop,
    async attack(target) {
      const [even, odd] = twins();
      await target.sql(`INSERT INTO snow (id, name) VALUES (${even}, 'even'), (${odd}, 'odd')`);
      const attacker = await target.person();
      const body = { data: { attributes: { ids: [Number(odd)] } } };
      const { status, text } = await attacker.http('DELETE', '/snow', body);
      const left = await target.rows(`SELECT name FROM snow WHERE id IN (${even}, ${odd})`);
      return verdict(!left.includes('even'), { left, status, text });
    },
    protection: [roundedIntegers],
  },
  {
    id: 'data-10-unreadable-collection',
    finding: 'data 10',
    title: 'one create with the largest BIGINT as a number makes a collection unreadable for everybody',
    on: ['sqlite'],
    place: shop,
    async attack(target) {
      const [attacker, other] = [await target.person(), await target.person()];
      const id = fresh();
      const answer = await attacker.raw(
        'create',
        `{"collectionName":"snow","attributes":{"id":${id},"big":9223372036854775807}}`,
      );
      const list = await other.call('list', {
        collectionName: 'snow',
        filters: { field: 'id', operator: 'Equal', value: id },
      });
      return verdict(typeof list === 'string', { answer, list });
    },
    protection: [
      exactNumbers,
      roundedIntegers,
      roundedInSqlite,
      // An integer that SQLite stores as a double is returned with all its digits.
      { file: 'src/agent/sources/sql/source.ts', text: '  if (prepared.bigIntegers) widen(rows);\n', into: '' },
    ],
  },
  {
    id: 'data-15-rounded-decimal',
    finding: 'data 15',
    title: 'a JSON number of 20 digits is stored as another amount, in silence',
    place: shop,
    async attack(target) {
      const attacker = await target.person();
      const id = fresh();
      const answer = await attacker.raw(
        'create',
        `{"collectionName":"snow","attributes":{"id":${id},"price":1234567890123456.7891}}`,
      );
      const rows = await target.rows(`SELECT price FROM snow WHERE id = ${id}`);
      return verdict(rows.length > 0 && !rows[0]!.includes('.7891'), { rows, answer });
    },
    protection: [exactNumbers],
  },
  {
    id: 'data-15-rounded-over-http',
    finding: 'data 15',
    title: 'the HTTP API stores a BIGINT that JSON has rounded',
    place: shop,
    async attack(target) {
      const attacker = await target.person();
      const id = fresh();
      const { status, text } = await attacker.http(
        'POST',
        '/snow',
        `{"data":{"type":"snow","attributes":{"id":${id},"big":9007199254740993}}}`,
      );
      const rows = await target.rows(`SELECT big FROM snow WHERE id = ${id}`);
      return verdict(rows.length > 0, { status, rows, text });
    },
    protection: [exactNumbers, roundedIntegers, roundedInSqlite],
  },
  {
    id: 'data-15-number-in-a-document',
    finding: 'data 15',
    title: 'a number in a JSON column is stored as another one',
    place: shop,
    async attack(target) {
      const attacker = await target.person();
      const id = fresh();
      const answer = await attacker.raw(
        'create',
        `{"collectionName":"snow","attributes":{"id":${id},"doc":{"deep":[9007199254740993]}}}`,
      );
      const rows = await target.rows(`SELECT doc FROM snow WHERE id = ${id}`);
      return verdict(rows.length > 0, { rows, answer });
    },
    protection: [exactNumbers],
  },
  {
    id: 'data-15-digits-beyond-the-scale',
    finding: 'data 15',
    title: 'a decimal with more digits than its column is cut in silence',
    place: shop,
    async attack(target) {
      const attacker = await target.person();
      const id = fresh();
      const attributes = { id, price: '0.12345' };
      const answer = await attacker.call('create', { collectionName: 'snow', attributes });
      const rows = await target.rows(`SELECT price FROM snow WHERE id = ${id}`);
      return verdict(rows.length > 0, { rows, answer });
    },
    protection: [
      {
        file: 'src/agent/resolve/values.ts',
        text: 'if (scale !== undefined && !fitsScale(value, scale))',
        into: 'if (scale === -1)',
      },
    ],
  },
  {
    id: 'data-low-nul-and-halves',
    finding: 'data low',
    title: 'NUL in a document is INTERNAL on PostgreSQL, and half of a character becomes another one',
    place: shop,
    async attack(target) {
      const attacker = await target.person();
      const create = (attributes: object) =>
        attacker.call('create', { collectionName: 'snow', attributes: { id: fresh(), ...attributes } });
      const answers = [
        await create({ doc: { deep: ['\0'] } }),
        await create({ doc: ['a\ud83e'] }),
        await create({ name: 'a\ud83e' }),
      ];
      return verdict(
        answers.some((answer) => !/^INVALID/.test(String(answer))),
        answers,
      );
    },
    protection: [
      {
        file: 'src/agent/resolve/values.ts',
        text: 'if (/(?<!\\\\)(?:\\\\\\\\)*\\\\u(?:0000|d[89a-f])/i.test(printed))',
        into: 'if (printed === undefined)',
      },
    ],
  },
  {
    id: 'held-days-that-are-none',
    finding: 'data held',
    title: 'a day that is none is stored as another one',
    place: shop,
    async attack(target) {
      const attacker = await target.person();
      const days = [
        '2023-02-29T00:00:00Z',
        '2024-02-30',
        '2024-13-01',
        '2024-01-01T25:00:00Z',
        'yesterday-ish',
        '0000-00-00',
      ];
      const answers: unknown[] = [];
      for (const at_time of days)
        answers.push(await attacker.call('create', { collectionName: 'notes', attributes: { id: fresh(), at_time } }));
      return verdict(
        answers.some((answer) => typeof answer !== 'string' || /INTERNAL/.test(answer)),
        answers,
      );
    },
    protection: [
      {
        file: 'src/agent/lower/dates.ts',
        text: 'return formatDay(day) === text ? text : undefined;',
        into: 'return day === 0 ? undefined : text;',
      },
    ],
  },
];
