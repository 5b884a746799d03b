// Group commit on SQLite: the writes that ask in one turn of the event loop share one transaction. The entries of
// concurrent calls are neighbours in every index, so a shared commit writes far fewer pages. Nobody continues before
// the commit.
import type { SqliteConnection } from '../../core/sqlite.ts';

export interface GroupedWrites {
  /**
   * Resolves when the write is committed. Undefined without an effect if the file cannot be written now: the caller
   * then uses knex, which waits. `needsTransaction`: false for a single statement.
   */
  write<T>(
    needsTransaction: boolean,
    run: (connection: SqliteConnection) => T,
  ): Promise<{ readonly answer: T } | undefined>;
}

type RunSync = <T>(run: (connection: SqliteConnection) => T) => { readonly answer: T } | undefined;

interface Waiting {
  readonly needsTransaction: boolean;
  readonly run: (connection: SqliteConnection) => unknown;
  readonly resolve: (done: { readonly answer: unknown } | undefined) => void;
  readonly reject: (error: unknown) => void;
}

export function createGroupedWrites(runSync: RunSync): GroupedWrites {
  let waiting: Waiting[] = [];

  const commit = (group: readonly Waiting[]) =>
    runSync((connection) => {
      const runAll = () => group.map(({ run }) => run(connection));
      const isOne = group.length === 1 && !group[0]!.needsTransaction;
      return isOne ? runAll() : connection.transaction(runAll).immediate();
    });

  function settle(group: readonly Waiting[]): void {
    try {
      const done = commit(group);
      const answers = done?.answer;
      group.forEach(({ resolve }, at) => void resolve(answers && { answer: answers[at] }));
    } catch (error) {
      // Nothing of the group is written. Each write gets its own result.
      if (group.length === 1) group[0]!.reject(error);
      else for (const one of group) settle([one]);
    }
  }

  function flush(): void {
    const group = waiting;
    waiting = [];
    settle(group);
  }

  return {
    write: <T>(needsTransaction: boolean, run: (connection: SqliteConnection) => T) =>
      new Promise<{ readonly answer: T } | undefined>((resolve, reject) => {
        // All sockets of the turn are read before an immediate runs.
        if (waiting.length === 0) setImmediate(flush);
        waiting.push({ needsTransaction, run, resolve: resolve as Waiting['resolve'], reject });
      }),
  };
}
