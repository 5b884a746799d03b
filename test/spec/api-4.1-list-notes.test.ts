// The list of notes (behaviour api 4.1): each parameter separately.
// test/api/notes-random.ts compares combinations with a naive implementation.
import { Settings } from 'luxon';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type NoteClient, notesPath, openNoteClient } from '../api/note-client.ts';

interface Made {
  readonly id: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly archivedAt?: string;
}

let client: NoteClient;
/** Oldest first. All were archived, and so updated, in this order after the last was created. */
let notes: readonly Made[];
beforeAll(async () => {
  client = await openNoteClient();
  await client.shop.addUser({ email: 'zoe@example.com', level: 'admin', team: 'South' });
  const zoe = await client.secret(['all'], 'zoe@example.com');
  const made = [
    await client.create({ collectionName: 'orders', recordId: '1' }),
    await client.create({ collectionName: 'customers', recordId: '1' }, zoe),
    await client.create({ collectionName: 'orders', recordId: '2' }),
  ];
  const archived = [];
  for (const { id } of made)
    archived.push((await client.ask('PATCH', `{notes}/${id}`, { body: { archived: true } })).body);
  notes = archived;
});
afterAll(() => client?.shop.stop());

/** The indexes in `notes` of the listed notes. */
const found = async (query: string) =>
  (await client.ids(`?${query}`)).map((id) => notes.findIndex((note) => note.id === id));
const status = async (path: string) => (await client.ask('GET', path)).status;

describe('api 4.1 List notes', () => {
  test('projectName | string | case sensitive', async () => {
    const names = ['My%20project', 'my%20project', 'My', 'My%20project%20', 'My%20project2', '%20', '1'];
    const statuses = [];
    for (const name of names) statuses.push(await status(notesPath.replace('My%20project', name)));
    expect(statuses).toEqual([200, ...Array(6).fill(404)]);
  });

  test('environmentName | string | case sensitive', async () => {
    const names = ['Production', 'PRODUCTION', 'Prod', 'Production%20', 'Production2', '1'];
    const statuses = [];
    for (const name of names) statuses.push(await status(notesPath.replace('Production', name)));
    expect(statuses).toEqual([200, ...Array(5).fill(404)]);
  });

  test('limit | integer | 1 to 100, default 10', async () => {
    const standard = (await client.ask('GET', '{notes}')).body.parameters.limit;
    const statuses = await Promise.all(
      ['1', '100', '0', '101', 'x', '007'].map((limit) => status(`${notesPath}?limit=${limit}`)),
    );
    expect([standard, await found('limit=1'), await found('limit=2'), statuses]).toEqual([
      10,
      [2],
      [2, 1],
      [200, 200, 400, 400, 400, 400],
    ]);
  });

  test("userEmail | string | creator's e-mail", async () => {
    expect([await found('userEmail=zoe@example.com'), await found('userEmail=nobody@example.com')]).toEqual([[1], []]);
  });

  test("userId | integer | creator's id", async () => {
    const { id } = (await client.shop.store.identity.findUserByEmail('zoe@example.com'))!;
    expect([await found(`userId=${id}`), await found('userId=1'), await found('userId=999')]).toEqual([
      [1],
      [2, 0],
      [],
    ]);
  });

  test('teamName | string | team name', async () => {
    expect([await found('teamName=South'), await found('teamName=Operations'), await found('teamName=south')]).toEqual([
      [1],
      [2, 0],
      [],
    ]);
  });

  test('collectionName | string | collection name as in the schema', async () => {
    expect([await found('collectionName=orders'), await found('collectionName=Orders')]).toEqual([[2, 0], []]);
  });

  test('recordId | string | record the note is attached to', async () => {
    expect([
      await found('recordId=1'),
      await found('recordId=2&collectionName=orders'),
      await found('recordId=3'),
    ]).toEqual([[1, 0], [2], []]);
  });

  test('recordId | string | the whole id, exactly', async () => {
    const { id } = await client.create({ collectionName: 'orders', recordId: '12' });
    const asked = ['1', '12', '01', '1%20', '%25', '1_'];
    const lists = await Promise.all(asked.map((text) => client.ids(`?recordId=${text}`)));
    expect(lists.map((ids) => [ids.length, ids.includes(id)])).toEqual([
      ...[
        [2, false],
        [1, true],
      ],
      ...Array(4).fill([0, false]),
    ]);
    await client.tables().knex('notes').where({ id }).delete();
  });

  test.each([
    ["userEmail | string | creator's e-mail, in any case", 'userEmail=ZOE@Example.com', [1]],
    ["userId | integer | creator's id; with userEmail both must match", 'userId=1&userEmail=zoe@example.com', []],
    ['teamName | string | with a filter of another kind both must match', 'teamName=South&collectionName=orders', []],
    ['teamName | string | an unknown name finds nothing', 'teamName=North', []],
    ['collectionName | string | case-sensitive', 'collectionName=order', []],
    ['collectionName | string | with recordId both must match', 'collectionName=orders&recordId=1', [0]],
  ] as const)('%s', async (_, query, places) => {
    expect(await found(query)).toEqual(places);
  });

  test.each(['userId=x', 'userId=0', 'userId=1.5', 'userEmail=zoe', 'teamName=', 'recordId=', 'collectionName=', 'limit=10&limit=10', 'username=Ada'])(
    'userEmail, userId, teamName, collectionName, recordId, limit | %s is refused',
    async (query) => {
      expect(await status(`${notesPath}?${query}`)).toBe(400);
    },
  ); // biome-ignore format: short

  test('teamName, collectionName, recordId | 1 to 400 characters', async () => {
    for (const name of ['teamName', 'collectionName', 'recordId'])
      expect([await found(`${name}=${'x'.repeat(400)}`), await status(`${notesPath}?${name}=${'x'.repeat(401)}`)], name)
        .toEqual([[], 400]); // biome-ignore format: short
  });

  const meanings = { eq: [1], lt: [0], lte: [1, 0], gt: [2], gte: [2, 1] } as const;
  const about = { createdAt: 'creation date', updatedAt: 'last update', archivedAt: 'archive date' } as const;
  const rows = (['createdAt', 'updatedAt', 'archivedAt'] as const).flatMap((field) =>
    (['eq', 'lt', 'lte', 'gt', 'gte'] as const).map(
      (comparison) => [`${field}.${comparison}`, about[field], field, comparison] as const,
    ),
  );
  test.each(rows)('%s | string, ISO 8601 | %s, a millisecond before and after it', async (_, __, field, comparison) => {
    const time = Date.parse(`${notes[1]![field]}`);
    const finds = async (shift: number) =>
      ((await found(`${field}.${comparison}=${new Date(time + shift).toISOString()}`)) as number[]).includes(1);
    const within = { eq: [false, true, false], lt: [false, false, true], lte: [false, true, true] };
    const after = { gt: [true, false, false], gte: [true, true, false] };
    expect([await finds(-1), await finds(0), await finds(1)]).toEqual({ ...within, ...after }[comparison]);
  });

  test.each(rows)('%s | string, ISO 8601 | %s filters', async (_, __, field, comparison) => {
    const time = encodeURIComponent(`${notes[1]![field]}`);
    expect([
      await found(`${field}.${comparison}=${time}`),
      await status(`${notesPath}?${field}.${comparison}=soon`),
    ]).toEqual([meanings[comparison], 400]);
  });

  const fields = ['createdAt', 'updatedAt', 'archivedAt'] as const;
  test.each(fields.map((field) => [['eq', 'lt', 'lte', 'gt', 'gte'].map((by) => `${field}.${by}`).join(', '), field] as const))('%s | between milliseconds, in other timezones, by day, two together', async (_, field) => {
    const time = `${notes[1]![field]}`;
    const [before, after] = [-1, 1].map((by) => new Date(Date.parse(time) + by).toISOString());
    const local = new Date(Date.parse(time) + 7_200_000).toISOString().replace('Z', '+02:00');
    const day = new Date(Date.parse(time) + 2 * 86_400_000).toISOString().slice(0, 10);
    const ask = (conditions: Readonly<Record<string, string>>) =>
      found(new URLSearchParams(Object.entries(conditions).map(([name, value]): [string, string] => [`${field}.${name}`, value])).toString());
    expect([
      await ask({ eq: local }),
      await ask({ eq: time.replace('Z', '') }),
      await ask({ eq: time.replace('Z', '5Z') }),
      await ask({ gt: before!, lt: after! }),
      await ask({ gte: time, lte: time }),
      await ask({ gt: time, lt: time }),
      await ask({ lt: time.replace('Z', '5Z'), gte: time }),
      await ask({ lt: day }),
      await ask({ gt: day }),
      await ask({ gt: '2000-01-01', gte: time }),
      await ask({ gt: time, gte: '2000-01-01' }),
      await ask({ lt: day, lte: time }),
      await ask({ lt: time, lte: day }),
      await ask({ gt: time.replace('Z', '5Z') }),
      await ask({ gt: before!.replace('Z', '5Z') }),
      await ask({ gte: time.replace('Z', '5Z') }),
      await ask({ gte: before!.replace('Z', '5Z') }),
      await ask({ lte: time.replace('Z', '5Z') }),
      await ask({ lte: before!.replace('Z', '5Z') }),
      await ask({ lt: before!.replace('Z', '5Z') }),
      await ask({ eq: time.replace('Z', '000Z') }),
      await ask({ eq: local.replace('+02:00', '+02') }),
      await ask({ eq: local.replace('+02:00', '+0200') }),
    ]).toEqual([
      ...[[1], [1], [], [1], [1], [], [1], [2, 1, 0], [], [2, 1], [2], [1, 0], [0]],
      ...[[2], [2, 1], [2], [2, 1], [1, 0], [0], [0], [1], [1], [1]],
    ]);
    for (const comparison of ['eq', 'lt', 'lte', 'gt', 'gte'])
      for (const wrong of ['12:00', 'T12', '', '2024-13-01', '2024-02-30', '20240101T25', '1704067200000', 'now'])
        expect(await status(`${notesPath}?${field}.${comparison}=${wrong}`), wrong).toBe(400);
  }); // biome-ignore format: short

  test('archivedAt.gte, archivedAt.lt | an open note matches neither', async () => {
    const { id } = await client.create({ collectionName: 'orders', recordId: '3' });
    const [gte, lt] = [await client.ids('?archivedAt.gte=2000-01-01'), await client.ids('?archivedAt.lt=2999-01-01')];
    await client.tables().knex('notes').where({ id }).delete();
    expect([gte.length, lt.length, gte.includes(id), lt.includes(id)]).toEqual([3, 3, false, false]);
    const both = new URLSearchParams({ 'archivedAt.gte': '2000-01-01', 'createdAt.gte': notes[2]!.createdAt });
    expect(await found(both.toString())).toEqual([2]);
  });

  test('sorted by id descending | for every request', async () => {
    const all = await client.ids();
    const some = await client.ids('?limit=1&collectionName=orders');
    expect([all, some]).toEqual([all.toSorted((a, b) => b - a), some.toSorted((a, b) => b - a)]);
    expect([all.length, some.length]).toEqual([3, 1]);
    // A page has the newest matching notes, with each index.
    for (const by of ['', '&createdAt.gte=2000-01-01', '&updatedAt.gte=2000-01-01', '&archivedAt.gte=2000-01-01'])
      expect(
        [await found(`limit=2${by}`), await found(`limit=1${by}`), await found(`limit=1&recordId=1${by}`)],
        by,
      ).toEqual([[2, 1], [2], [1]]);
  });

  test('Admin role | Requires a Bearer token generated by a user with one on the project', async () => {
    const eve = await client.shop.addUser({ email: 'eve@example.com', level: 'developer' });
    const secret = await client.secret(['all'], eve.email);
    const before = (await client.ask('GET', '{notes}', { secret })).status;
    const { id } = (await client.shop.store.identity.findUserByEmail(eve.email))!;
    await client.shop.store.members.change(id, { level: 'admin' });
    const promoted = (await client.ask('GET', '{notes}', { secret })).status;
    await client.shop.store.members.change(id, { level: 'editor' });
    expect([before, promoted, (await client.ask('GET', '{notes}', { secret })).status]).toEqual([403, 200, 403]);
  });

  test.each(fields.map((field) => [['eq', 'lt', 'lte', 'gt', 'gte'].map((by) => `${field}.${by}`).join(', '), field] as const))('%s | without an offset in UTC, in any timezone of the server; a date is its first moment; with limit and other filters', async (_, field) => {
    const time = `${notes[1]![field]}`;
    const zone = Settings.defaultZone;
    Settings.defaultZone = 'Pacific/Auckland';
    onTestFinished(() => {
      Settings.defaultZone = zone;
    });
    const [today, tomorrow] = [0, 1].map((days) => new Date(Date.parse(time) + days * 86_400_000).toISOString().slice(0, 10));
    const plain = time.slice(0, -1);
    const basic = `${time.replaceAll(/[-:]/g, '').slice(0, -1)}`;
    expect([
      await found(`${field}.eq=${plain}`),
      await found(`${field}.eq=${basic}`),
      await found(`${field}.eq=${time.replace('.', ',')}`),
      await found(`${field}.lte=${plain}`),
      await found(`${field}.gte=${plain}`),
      await found(`${field}.gte=${today}&${field}.lt=${tomorrow}`),
      await found(`${field}.gte=${today}T00:00:00.000&${field}.lte=${tomorrow}T00:00`),
      await found(`${field}.eq=${today}`),
      await found(`${field}.gte=${time}&limit=1`),
      await found(`${field}.lte=${time}&limit=1`),
      await found(`${field}.lte=${time}&userId=1`),
      await found(`${field}.gte=${time}&collectionName=orders`),
      await found(`${field}.eq=${time}&recordId=2`),
      await found(`${field}.eq=${time}&teamName=South&userEmail=zoe@example.com`),
    ]).toEqual([[1], [1], [1], [1, 0], [2, 1], [2, 1, 0], [2, 1, 0], [], [2], [1], [0], [2], [], [1]]);
    const { parameters } = (await client.ask('GET', `{notes}?${field}.gte=${plain}`)).body;
    expect(parameters[`${field}.gte`]).toBe(plain);
  }); // biome-ignore format: short

  test('limit | integer | plain digits, without sign, space, point or exponent', async () => {
    const seen = [];
    for (const limit of ['1', '9', '99', '100'])
      seen.push((await client.ask('GET', `{notes}?limit=${limit}`)).body.parameters.limit);
    const refused = [];
    for (const limit of ['%201', '1%20', '%2B1', '-1', '1.0', '1e1', '0x5', '1,', '', 'ten', '1000', '99999999999'])
      refused.push(await status(`${notesPath}?limit=${limit}`));
    expect([seen, new Set(refused)]).toEqual([[1, 9, 99, 100], new Set([400])]);
  });

  test('userEmail, userId, teamName, collectionName, recordId | each with each of the others: both must match', async () => {
    const of = { userEmail: 'zoe@example.com', teamName: 'South', collectionName: 'customers', recordId: '1' } as const;
    const zoe = (await client.shop.store.identity.findUserByEmail('zoe@example.com'))!;
    const own: [string, string][] = [...Object.entries(of), ['userId', `${zoe.id}`]];
    const other = {
      userEmail: 'ada@example.com',
      teamName: 'Operations',
      collectionName: 'orders',
      recordId: '2',
      userId: '1',
    };
    for (const [name, value] of own)
      for (const [second, wanted] of own.filter(([one]) => one !== name)) {
        const query = new URLSearchParams({ [name]: value, [second]: wanted });
        expect(await found(query.toString()), query.toString()).toEqual([1]);
        query.set(second, other[second as keyof typeof other]);
        const expected = name === 'recordId' && second !== 'recordId' ? [0] : [];
        expect(await found(query.toString()), query.toString()).toEqual(expected);
      }
  });

  test.each(['userEmail', 'userId', 'teamName', 'collectionName', 'recordId'] as const)(
    '%s | matches exactly, without patterns or SQL',
    async (name) => {
      const right = {
        userEmail: 'zoe@example.com',
        userId: '1',
        teamName: 'South',
        collectionName: 'orders',
        recordId: '1',
      }[name];
      const near = [
        `${right}x`,
        right.slice(0, -1),
        `%${right}%`,
        `${right.slice(0, -1)}_`,
        `${right}' OR '1'='1`,
        ` ${right}`,
        `${right} `,
        `${right}\u0301`,
        `${right},2`,
      ];
      if (name !== 'userEmail' && name !== 'userId')
        near.push(right.toUpperCase() === right ? `0${right}` : right.toUpperCase());
      for (const value of near) {
        const { status, body } = await client.ask('GET', `{notes}?${new URLSearchParams({ [name]: value })}`);
        const isRefused = status === 400 && body.message.startsWith(`${name}:`);
        expect(isRefused || (status === 200 && body.data.length === 0), value).toBe(true);
      }
    },
  );
});
