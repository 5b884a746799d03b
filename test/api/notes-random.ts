// Random notes, messages and filters over HTTP, compared with a naive model in memory. All pages together must match
// the model, by cursor and by date, while other notes are inserted. A failure prints its seed.
import fc from 'fast-check';
import type { TestServer } from '../databases.ts';
import { createStorage } from '../store/spares.ts';
import { openNoteClient } from './note-client.ts';

interface Note {
  readonly id: number;
  readonly title: string;
  readonly recordId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly archivedAt?: string;
  readonly user: { readonly id: number; readonly email: string };
  readonly team: { readonly name: string };
  readonly collection: { readonly name: string };
  readonly messages: readonly { readonly content: string }[];
}

type Write =
  | {
      readonly do: 'create';
      readonly who: number;
      readonly collection: string;
      readonly record: string;
      readonly content: boolean;
    }
  | { readonly do: 'message' | 'edit'; readonly who: number; readonly note: number }
  | { readonly do: 'archive'; readonly who: number; readonly note: number; readonly archived: boolean };

interface DateWish {
  readonly field: 'createdAt' | 'updatedAt' | 'archivedAt';
  readonly comparison: 'eq' | 'lt' | 'lte' | 'gt' | 'gte';
  /** The note that supplies the time. */
  readonly note: number;
  /** Offset from that time. */
  readonly micros: number;
  readonly zoned: boolean;
}

interface Wish {
  readonly limit: number;
  readonly userEmail?: string | undefined;
  readonly userId?: number | undefined;
  readonly teamName?: string | undefined;
  readonly collectionName?: string | undefined;
  readonly recordId?: string | undefined;
  readonly dates: readonly DateWish[];
}

const people = [
  ['ada@example.com', 'Operations'],
  ['nora@example.com', 'North'],
  ['nils@example.com', 'north'],
] as const;

const who = fc.nat(people.length - 1);
const note = fc.nat(1000);
const create = fc.record({
  do: fc.constant('create' as const),
  who,
  collection: fc.constantFrom('orders', 'customers', 'products'),
  record: fc.constantFrom('1', '2', '3'),
  content: fc.boolean(),
});
const write: fc.Arbitrary<Write> = fc.oneof(
  { arbitrary: create, weight: 3 },
  fc.record({ do: fc.constantFrom('message' as const, 'edit' as const), who, note }),
  fc.record({ do: fc.constant('archive' as const), who, note, archived: fc.boolean() }),
);
const date: fc.Arbitrary<DateWish> = fc.record({
  field: fc.constantFrom('createdAt', 'updatedAt', 'archivedAt'),
  comparison: fc.constantFrom('eq', 'lt', 'lte', 'gt', 'gte'),
  note,
  micros: fc.constantFrom(0, 0, 0, 1000, -1000, 400, -400),
  zoned: fc.boolean(),
});
const sometimes = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined, freq: 3 });
const wish: fc.Arbitrary<Wish> = fc.record({
  limit: fc.constantFrom(1, 2, 3, 7, 100),
  userEmail: sometimes(fc.constantFrom('ada@example.com', 'NORA@example.com', 'nobody@example.com')),
  userId: sometimes(fc.integer({ min: 1, max: 4 })),
  teamName: sometimes(fc.constantFrom('Operations', 'North', 'north', 'NORTH')),
  collectionName: sometimes(fc.constantFrom('orders', 'customers', 'products', 'Orders', 'orders ')),
  recordId: sometimes(fc.constantFrom('1', '2', '3', '01')),
  dates: fc.array(date, { maxLength: 2 }),
});

interface Sent {
  readonly field: DateWish['field'];
  readonly comparison: DateWish['comparison'];
  readonly micros: bigint;
  readonly text: string;
}

const microsOf = (time: string): bigint => BigInt(Date.parse(time)) * 1000n;

/** Formats a time as a client may: with an offset, and with more precision than we store. */
function writeTime(micros: bigint, zoned: boolean): string {
  const shift = zoned ? 5_400_000 : 0;
  const ms = Number(micros / 1000n);
  const digits = `${micros % 1000n}`.padStart(3, '0');
  const text = new Date(ms + shift).toISOString().slice(0, -1);
  return `${text}${digits === '000' ? '' : digits}${zoned ? '+01:30' : 'Z'}`;
}

const tests: Readonly<Record<DateWish['comparison'], (is: bigint, asked: bigint) => boolean>> = {
  eq: (is, asked) => is === asked,
  lt: (is, asked) => is < asked,
  lte: (is, asked) => is <= asked,
  gt: (is, asked) => is > asked,
  gte: (is, asked) => is >= asked,
};

const fits = (
  one: Note,
  { userEmail, userId, teamName, collectionName, recordId }: Wish,
  dates: readonly Sent[],
): boolean =>
  (userEmail === undefined || one.user.email === userEmail.toLowerCase()) &&
  (userId === undefined || one.user.id === userId) &&
  (teamName === undefined || one.team.name === teamName) &&
  (collectionName === undefined || one.collection.name === collectionName) &&
  (recordId === undefined || one.recordId === recordId) &&
  dates.every(({ field, comparison, micros }) => {
    const time = one[field];
    return time !== undefined && tests[comparison](microsOf(time), micros);
  });

/** A note by itself shows more of its messages than the list does. */
const asListed = (thread: Note): Note => ({
  ...thread,
  messages: thread.messages.map((message) => {
    const { id: _, editedAt: __, ...shown } = message as Record<string, unknown>;
    return shown as { content: string };
  }),
});

export interface RandomNotes {
  /** Rejects with the counterexample; returns the number of pages compared. */
  check(runs: number, seed?: number): Promise<number>;
  stop(): Promise<void>;
}

export async function openRandomNotes(server: TestServer): Promise<RandomNotes> {
  const storage = await createStorage(server);
  const client = await openNoteClient({ env: { SERVICE_STORAGE_URL: storage.url } });
  const secrets = [await client.secret()];
  for (const [email, team] of people.slice(1)) {
    await client.shop.addUser({ email, team, level: 'admin' });
    secrets.push(await client.secret(['all'], email));
  }
  const known: Note[] = [];
  let texts = 0;
  let pages = 0;

  const put = (thread: Note): void => {
    const at = known.findIndex(({ id }) => id === thread.id);
    if (at === -1) known.push(asListed(thread));
    else known[at] = asListed(thread);
  };

  const doIt = async (one: Write): Promise<void> => {
    const secret = secrets[one.who]!;
    if (one.do === 'create') {
      const { collection: collectionName, record: recordId, content } = one;
      const text = content ? { content: `<p>text ${++texts}</p>` } : {};
      put(await client.create({ title: `note ${++texts}`, collectionName, recordId, ...text }, secret));
      return;
    }
    const about = known[one.note % (known.length || 1)];
    if (!about) return;
    const path = `{notes}/${about.id}`;
    const { body: thread } = await client.ask('GET', path, { secret });
    const message = thread.messages[0]?.id;
    const { body, status } =
      one.do === 'archive'
        ? await client.ask('PATCH', path, { secret, body: { archived: one.archived, title: `note ${++texts}` } })
        : one.do === 'message' || message === undefined
          ? await client.ask('POST', `${path}/messages`, { secret, body: { content: `text ${++texts}` } })
          : await client.ask('PATCH', `${path}/messages/${message}`, { secret, body: { content: `text ${++texts}` } });
    if (status >= 300) throw new Error(`${one.do}: ${status} ${body.message}`);
    put(body);
  };

  const checkWish = async (asked: Wish, inserted: Extract<Write, { do: 'create' }>): Promise<void> => {
    const sent = asked.dates.flatMap(({ field, comparison, note: at, micros, zoned }): Sent[] => {
      const time = known[at % (known.length || 1)]?.[field];
      if (time === undefined) return [];
      const exact = microsOf(time) + BigInt(micros);
      return [{ field, comparison, micros: exact, text: writeTime(exact, zoned) }];
    });
    // A parameter may occur only once.
    const dates = [...new Map(sent.map((one) => [`${one.field}.${one.comparison}`, one])).values()];
    const { userEmail, userId, teamName, collectionName, recordId, limit } = asked;
    const filters = Object.fromEntries(
      Object.entries({
        userEmail,
        userId,
        teamName,
        collectionName,
        recordId,
        ...Object.fromEntries(dates.map(({ field, comparison, text }) => [`${field}.${comparison}`, text])),
      }).filter(([, value]) => value !== undefined),
    );
    for (const how of ['cursor', 'dates'] as const) {
      // Notes inserted after the first page are newer than all that follow.
      const expected = known.filter((one) => fits(one, asked, dates)).sort((a, b) => b.id - a.id);
      const got: Note[] = [];
      let more: Record<string, unknown> = {};
      for (let first = true; ; first = false) {
        const query = { ...filters, limit, ...more };
        const text = new URLSearchParams(
          Object.entries(query).map(([name, value]): [string, string] => [name, `${value}`]),
        );
        const { status, body } = await client.ask('GET', `{notes}?${text}`);
        if (status !== 200) throw new Error(`${text}: ${status} ${body.message}`);
        pages++;
        const { cursor: _, ...echoed } = query as Record<string, unknown>;
        same(
          body.parameters,
          { projectName: 'My project', environmentName: 'Production', ...echoed },
          `echo of ${text}`,
        );
        if ('nextCursor' in body !== body.hasMore)
          throw new Error(`${text}: a cursor without more, or more without one`);
        got.push(...body.data);
        if (!body.hasMore) break;
        if (body.data.length !== limit) throw new Error(`${text}: a page of ${body.data.length} that is not the last`);
        more = how === 'cursor' ? { cursor: body.nextCursor } : { 'createdAt.lt': body.data.at(-1).createdAt };
        if (first) await doIt(inserted);
      }
      same(got, expected, `by ${how}: ${new URLSearchParams(filters as Record<string, string>)}`);
    }
  };

  return {
    async check(runs, seed) {
      await fc.assert(
        fc.asyncProperty(
          fc.array(write, { minLength: 2, maxLength: 6 }),
          fc.array(wish, { minLength: 1, maxLength: 3 }),
          create,
          async (writes, wishes, inserted) => {
            for (const one of writes) await doIt(one);
            for (const one of wishes) await checkWish(one, inserted);
          },
        ),
        // Every run adds data, so shrinking cannot find a smaller counterexample.
        { numRuns: runs, endOnFailure: true, ...(seed !== undefined && { seed }) },
      );
      return pages;
    },
    async stop() {
      await client.shop.stop();
      await storage.drop();
    },
  };
}

/** Sorts keys recursively. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, sorted(one)]),
  );
};

function same(got: unknown, expected: unknown, what: string): void {
  const [is, should] = [JSON.stringify(sorted(got)), JSON.stringify(sorted(expected))];
  if (is !== should) throw new Error(`${what}\n     got ${is}\nexpected ${should}`);
}
