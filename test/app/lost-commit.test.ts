// The connection is lost or silent during COMMIT: the write is done or not, and the answer must match the database.
// PostgreSQL can look up the outcome by transaction id; MariaDB cannot.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { remoteServers } from '../databases.ts';
import { type Http, openHttp } from './callers.ts';
import { type Music, openTables } from './music.ts';
import { type Fate, openWire, type Wire } from './wire.ts';

// A file must contain a test.
if (remoteServers.length === 0) test.skip('needs a database server', () => {});

const tables = [
  'CREATE TABLE things (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(40) NOT NULL)',
  ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((id) => `INSERT INTO things VALUES (${id}, 'old')`),
];

describe.each(remoteServers)('$dialect', (maker) => {
  let wire: Wire;
  let music: Music;
  let http: Http;
  const ends: (() => Promise<void>)[] = [];
  const knows = maker.dialect === 'postgres';

  beforeAll(async () => {
    const wired = {
      ...maker,
      async create() {
        const database = await maker.create();
        const url = new URL(database.url);
        wire = await openWire({ host: url.hostname, port: Number(url.port) });
        url.port = String(wire.port);
        return { ...database, url: url.href };
      },
    };
    music = await openTables(
      wired,
      tables,
      (agent) =>
        agent.customizeCollection('things', (things) =>
          things.addAction('Rename', {
            scope: 'Single',
            execute: async (context) => void (await context.collection.update(context.filter, { name: 'new' })),
          }),
        ),
      (end) => ends.unshift(end),
      { env: { SERVICE_QUERY_SECONDS: '2' } },
    );
    http = await openHttp(music);
  });
  afterAll(async () => {
    for (const end of ends) await end();
    await wire?.close();
  });

  let next = 100;
  const named = async () => ({ collectionName: 'things', recordIds: [String(await made())] });
  const made = async () => {
    await music.run(`INSERT INTO things VALUES (${++next}, 'old')`);
    return next;
  };
  const entry = async () => {
    await music.store.activity.flush();
    return (await music.written())[0];
  };
  const has = async (where: string) => (await music.rows(`things WHERE ${where}`)).length > 0;
  /** A write, and a check whether the database has it. */
  const writes: Readonly<
    Record<string, () => Promise<{ readonly run: () => Promise<unknown>; readonly isDone: () => Promise<boolean> }>>
  > = {
    async create() {
      const id = ++next;
      return {
        run: () => music.call('create', { collectionName: 'things', attributes: { id, name: 'new' } }),
        isDone: () => has(`id = ${id}`),
      };
    },
    async update() {
      const which = await named();
      return {
        run: () => music.call('update', { ...which, attributes: { name: 'new' } }),
        isDone: () => has(`id = ${which.recordIds} AND name = 'new'`),
      };
    },
    async delete() {
      const which = await named();
      return {
        run: () => music.call('delete', which),
        isDone: async () => !(await has(`id = ${which.recordIds}`)),
      };
    },
    async action() {
      const which = await named();
      return {
        run: () => music.call('executeAction', { ...which, actionName: 'Rename' }),
        isDone: () => has(`id = ${which.recordIds} AND name = 'new'`),
      };
    },
    async 'HTTP create'() {
      const id = ++next;
      const data = { type: 'things', attributes: { id, name: 'new' } };
      return {
        run: async () => JSON.stringify(await http.ask('POST', '/things', { data })),
        isDone: () => has(`id = ${id}`),
      };
    },
    async 'HTTP update'() {
      const id = await made();
      const data = { type: 'things', id: String(id), attributes: { name: 'new' } };
      return {
        run: async () => JSON.stringify(await http.ask('PUT', `/things/${id}`, { data })),
        isDone: () => has(`id = ${id} AND name = 'new'`),
      };
    },
    async 'HTTP delete'() {
      const id = await made();
      return {
        run: async () => JSON.stringify(await http.ask('DELETE', `/things/${id}`)),
        isDone: async () => !(await has(`id = ${id}`)),
      };
    },
    async 'HTTP action'() {
      const id = await made();
      return {
        run: async () => JSON.stringify(await http.execute('things', 'Rename', [String(id)])),
        isDone: () => has(`id = ${id} AND name = 'new'`),
      };
    },
  };

  const unknown = { outcome: 'unknown', code: 'OUTCOME_UNKNOWN' };
  const inPlainWords = /The database did not confirm whether this write was done.*Do not repeat.*Check/s;

  test.each(Object.keys(writes))(
    '%s: if the answer to COMMIT is lost, the call reports success or an unknown outcome',
    async (name) => {
      // `silent` takes as long as the time limit of a call, so only one call of each kind tries it.
      const fates: readonly Fate[] = ['create', 'HTTP update'].includes(name) ? ['not told', 'silent'] : ['not told'];
      for (const fate of fates) {
        const { run, isDone } = await writes[name]!();
        wire.strike(fate);
        const answer = await run();
        expect(await isDone()).toBe(true);
        if (knows) {
          expect(JSON.stringify(answer)).not.toMatch(/UNKNOWN|SOURCE_|TIMED_OUT|ACTION_FAILED/);
          expect(await entry()).toMatchObject({ outcome: 'completed' });
        } else {
          expect(answer).toMatch(inPlainWords);
          expect(answer).not.toMatch(/again shortly/i);
          expect(await entry()).toMatchObject(unknown);
        }
      }
    },
  );

  test.each(Object.keys(writes))(
    '%s: if COMMIT is lost, the call reports a failure or an unknown outcome',
    async (name) => {
      const { run, isDone } = await writes[name]!();
      wire.strike('not asked');
      const answer = await run();
      expect(await isDone()).toBe(false);
      if (knows) {
        expect(answer).toMatch(/SOURCE_UNAVAILABLE/);
        expect(await entry()).toMatchObject({ outcome: 'failed', code: 'SOURCE_UNAVAILABLE' });
      } else {
        expect(answer).toMatch(inPlainWords);
        expect(await entry()).toMatchObject(unknown);
      }
    },
  );

  test.each(['create', 'HTTP update'])(
    '%s: if the server is unreachable after COMMIT, the call reports an unknown outcome',
    async (name) => {
      const { run, isDone } = await writes[name]!();
      wire.strike('away');
      expect(await run()).toMatch(inPlainWords);
      expect(await entry()).toMatchObject(unknown);
      wire.mend();
      expect(await isDone()).toBe(true);
      if (knows) await expect.poll(entry, { timeout: 15_000, interval: 200 }).toMatchObject({ outcome: 'completed' });
    },
  );

  test('a repeat with the same idempotency key writes nothing again', async () => {
    for (const fate of ['not told', 'not asked', 'away'] satisfies Fate[]) {
      const args = {
        collectionName: 'things',
        attributes: { id: ++next, name: 'new' },
        idempotencyKey: `key ${fate}`,
      };
      wire.strike(fate);
      const first = await music.call('create', args);
      wire.mend();
      const isDone = await has(`id = ${next}`);
      const repeat = await music.call('create', args);
      expect(await has(`id = ${next}`)).toBe(isDone);
      if (knows && fate === 'not told') expect([first, repeat]).toEqual([first, first]);
      else expect(repeat).toMatch(/^OUTCOME_UNKNOWN/);
    }
  });

  test('a COMMIT that the database refuses is reported as failed', async () => {
    if (!knows) return;
    await music.run(
      'ALTER TABLE things ADD CONSTRAINT things_name UNIQUE (name, id) DEFERRABLE INITIALLY DEFERRED',
      'CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ begin if new.name = $q$bad$q$ then raise exception $q$no$q$; end if; return null; end $$',
      'CREATE CONSTRAINT TRIGGER late AFTER INSERT ON things DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()',
    );
    const answer = await music.call('create', { collectionName: 'things', attributes: { id: ++next, name: 'bad' } });
    expect(answer).not.toMatch(/OUTCOME_UNKNOWN/);
    expect(await entry()).toMatchObject({ outcome: 'failed' });
    expect(await has(`id = ${next}`)).toBe(false);
  });

  test('calls after the faults succeed', async () => {
    await systemClock.sleep(10);
    expect(await music.call('update', { ...(await named()), attributes: { name: 'after' } })).toMatchObject({
      count: 1,
    });
  });
});
