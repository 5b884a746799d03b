// Many clients call webhooks over HTTP at once, on one server process and on three with
// one storage. Of all calls on a record, one starts a run, and each step runs once, as
// the served database counts. The normal tests run a sample, the long tests everything.
import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { buildOnce, makePlace, type Place, type StartedServer, startServer } from '../cli/command.ts';
import type { TestServer } from '../databases.ts';
import { type Field, openField, threeSteps } from './field.ts';

export interface Size {
  readonly server: TestServer;
  readonly processes: number;
  /** The calls on one record. */
  readonly callers: number;
  /** The number of records that are called `TIMES` times each. */
  readonly records: number;
}

/** The concurrent calls on each of the records. */
const TIMES = 2;
const SIDE_BY_SIDE = 40;
const token = { name: 'ci', scopes: ['all'] } as const;

interface Raced {
  readonly field: Field;
  /** Calls the webhook of a workflow on the next process, and returns the status. */
  trigger(path: string, recordId: string): Promise<number>;
  /** Publishes a workflow with a trigger, and returns the path of its URL. */
  publish(steps: readonly object[]): Promise<{ readonly id: string; readonly path: string }>;
  close(): Promise<void>;
}

const env: Readonly<Record<string, string>> = {
  SERVICE_SECRET: 'of all workers',
  SERVICE_LOG_LEVEL: 'Error',
  // Limits raised as an operator would. Another test checks the defaults.
  SERVICE_WEBHOOK_PER_MINUTE: '1000000',
  SERVICE_API_PER_MINUTE: '1000000',
  SERVICE_API_PER_HOUR: '1000000',
  SERVICE_API_PER_DAY: '1000000',
};

async function openRace({ server, processes }: Size): Promise<Raced> {
  await buildOnce();
  const field = await openField(server);
  const places: Place[] = [];
  const started: StartedServer[] = [];
  const close = async (): Promise<void> => {
    for (const one of started) one.signal('SIGTERM');
    const ended = await Promise.all(started.map((one) => one.ended));
    for (const place of places) place.remove();
    await field.close();
    expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual(started.map(() => [0, '']));
  };
  try {
    for (let n = 0; n < processes; n++) {
      const place = makePlace();
      places.push(place);
      const all = { ...env, SERVICE_STORAGE_URL: field.storageUrl };
      started.push(await startServer(['--database', field.servedUrl], { folder: place.folder, env: all }));
    }
    const { secret } = await field.store.tokens.create({ userId: field.userId, ...token });
    let turn = 0;
    const ask = (method: string, path: string, body: object) =>
      askJson(`${started[turn++ % processes]!.origin}${path}`, { method, secret, body });
    return {
      field,
      close,
      trigger: async (path, recordId) => (await ask('POST', path, { record_id: recordId })).status,
      async publish(steps) {
        const { id } = await field.publish(steps);
        const path = `/v1/project/My%20project/environment/Production/workflows/${id}/trigger`;
        const { status, json } = await ask('PATCH', path, { enabled: true });
        if (status !== 200) throw new Error(`the trigger was not enabled: ${JSON.stringify(json)}`);
        return { id, path: new URL((json as { url: string }).url).pathname };
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Asked {
  readonly method: string;
  readonly secret: string;
  readonly body: object;
}

/** Uses a new connection for each call, because real clients share none. */
function askJson(url: string, { method, secret, body }: Asked) {
  return new Promise<{ readonly status: number; readonly json: unknown }>((resolve, reject) => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json', connection: 'close' };
    const req = request(url, { method, headers, agent: false }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      res.on('end', () => resolve({ status: res.statusCode!, json: JSON.parse(text) }));
    });
    req.on('error', reject);
    req.end(JSON.stringify(body));
  });
}

interface Counted {
  readonly state: string;
  readonly step_id: string;
  readonly position: number;
  readonly count: number | string;
}

const counted = (statuses: readonly number[]): Readonly<Record<number, number>> =>
  statuses.reduce<Record<number, number>>((all, one) => Object.assign(all, { [one]: (all[one] ?? 0) + 1 }), {});

/** The last step waits for a person, so the run keeps its record to itself. */
const [look, size, change] = threeSteps;
const told = { id: 'told', type: 'guidance', text: 'Look at it.' } as const;

export function proveRaces(sizes: readonly Size[]): void {
  describe.each(sizes)('$processes processes on one $server.dialect', { timeout: 900_000 }, (wanted) => {
    const { callers, records } = wanted;
    test(`${callers} concurrent calls on one record, and ${TIMES} on each of ${records}: one run for each record, each step once`, async () => {
      const race = await openRace(wanted);
      const { field, trigger } = race;
      try {
        const waits = await race.publish([told]);
        const [one] = await field.orders(1);
        const together = await Promise.all(Array.from({ length: callers }, () => trigger(waits.path, one!)));
        expect(counted(together)).toEqual({ 202: 1, 409: callers - 1 });

        const works = await race.publish([look, size, { ...change, next: 'told' }, told]);
        const ids = await field.orders(records);
        const calls = ids.flatMap((id) => Array.from({ length: TIMES }, () => id));
        const statuses: number[] = [];
        const call = async (): Promise<void> => {
          for (let id = calls.pop(); id !== undefined; id = calls.pop()) statuses.push(await trigger(works.path, id));
        };
        await Promise.all(Array.from({ length: SIDE_BY_SIDE }, call));
        expect(counted(statuses)).toEqual({ 202: records, 409: records * (TIMES - 1) });

        const table = () => field.tables('workflow_runs').where({ workflow_id: works.id });
        const stateCounts = async () =>
          ((await table().select('state').groupBy('state').count({ count: '*' })) as Counted[]).map((row) => [
            row.state,
            Number(row.count),
          ]);
        await expect.poll(stateCounts, { timeout: 600_000, interval: 200 }).toEqual([['awaiting-input', records]]);
        expect((await table().distinct('record_id').pluck('record_id')).length).toBe(records);
        const done = (await field
          .tables('workflow_run_steps as s')
          .join('workflow_runs as r', 'r.id', 's.run_id')
          .where('r.workflow_id', works.id)
          .groupBy('s.step_id', 's.state', 's.position')
          .orderBy('s.position')
          .select('s.step_id', 's.state', 's.position')
          .count({ count: '*' })) as Counted[];
        expect(done.map(({ step_id, state, position, count }) => [step_id, state, position, Number(count)])).toEqual([
          ['look', 'done', 1, records],
          ['size', 'done', 2, records],
          ['change', 'done', 3, records],
          ['told', 'waiting', 4, records],
        ]);
        const effects = await field.effects();
        expect(effects.size).toBe(records);
        expect([...effects.values()].filter((made) => made.change !== 1)).toEqual([]);
      } finally {
        await race.close();
      }
    });
  });
}
