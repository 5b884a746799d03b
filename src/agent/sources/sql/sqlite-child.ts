// The child process of sqlite-children.ts: one file, read only, one statement at a time.
import { loadSqliteDriver } from '../../../core/sqlite.ts';
import type { ChildAnswer, ChildRequest } from './sqlite-children.ts';

const { driver: Database } = loadSqliteDriver('native');
const connection = new Database(process.argv[2] ?? '', { readonly: true, fileMustExist: true });
connection.pragma('busy_timeout = 5000');

process.on('message', ({ sql, values, bigIntegers }: ChildRequest) => {
  let answer: ChildAnswer;
  try {
    const statement = connection.prepare(sql).raw().safeIntegers(bigIntegers);
    answer = { rows: statement.all(values.map(revive)) as unknown[][] };
  } catch (error) {
    answer = { error: (error as Error).message };
  }
  process.send?.(answer);
});
process.on('disconnect', () => process.exit());

/** A Buffer arrives as the bytes it is made of. */
function revive(value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;
}
