// The child process of children.ts. It opens one file read-only and runs one statement at a time. It returns rows in
// parts to keep the parent process responsive.
import { lowerPriority } from '../../../../core/limit/priority.ts';
import { loadSqliteDriver } from '../../../../core/sqlite.ts';
import { estimateBytes } from '../answer-size.ts';
import { cutRow } from '../statements/cut.ts';
import type { ChildAnswer, ChildRequest } from './children.ts';

lowerPriority();

const PART_BYTES = 256_000;
const PART_ROWS = 1000;

const { driver: Database } = loadSqliteDriver();
const connection = new Database(process.argv.at(-1) ?? '', { readonly: true, fileMustExist: true });
connection.pragma('busy_timeout = 1000');

/** Resolves when the message was sent. Unsent messages would accumulate in memory. */
const send = (answer: ChildAnswer) => new Promise<void>((resolve) => process.send?.(answer, () => resolve()));

async function answer({ sql, values, bigIntegers, maxBytes: bytesMost, cut }: ChildRequest): Promise<void> {
  const statement = connection.prepare(sql).raw().safeIntegers(bigIntegers);
  let rows: unknown[][] = [];
  let bytes = 0;
  let sent = 0;
  for (const row of statement.iterate(values.map(revive)) as Iterable<unknown[]>) {
    if (cut) cutRow(row, cut);
    rows.push(row);
    bytes += estimateBytes(row);
    if (sent + bytes > bytesMost) return send({ tooLarge: true });
    if (rows.length < PART_ROWS && bytes < PART_BYTES) continue;
    await send({ rows, isLast: false });
    rows = [];
    sent += bytes;
    bytes = 0;
  }
  return send({ rows, isLast: true });
}

process.on('message', (request: ChildRequest) => {
  answer(request).catch(({ message, code }: Error & { code?: string }) =>
    send({ error: message, ...(code !== undefined && { code }) }),
  );
});
process.on('disconnect', () => process.exit());

/** A Buffer arrives as a Uint8Array. */
function revive(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;
}
