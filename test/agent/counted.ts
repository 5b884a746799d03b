// A source that counts its statements, and one that returns no rows from writes, as on MySQL.

import type { Session, Source, Writing } from '../../src/agent/sources/source.ts';
import type { Row } from '../../src/agent/sources/statement.ts';

export interface Counted {
  readonly source: Source;
  /** Number of statements since the last call, without BEGIN and COMMIT. */
  statements(): number;
}

export function counted(source: Source, returns = true): Counted {
  let statements = 0;
  const count = <A extends readonly unknown[], R>(run: (...given: A) => R) => {
    return (...given: A): R => {
      statements++;
      return run(...given);
    };
  };
  const writing = source.writing!;
  const none = { insert: false, update: false, delete: false, joinedChecks: false };
  const counting: Writing = {
    get returning() {
      return returns ? writing.returning : none;
    },
    transaction: (work, options) =>
      writing.transaction((session) => {
        const kept: Session = returns ? session : silent(session);
        return work({
          read: count(kept.read),
          insert: count(kept.insert),
          update: count(kept.update),
          delete: count(kept.delete),
        });
      }, options),
  };
  return {
    source: {
      ...source,
      read: count(source.read),
      count: count(source.count),
      ...(source.aggregate && { aggregate: count(source.aggregate) }),
      writing: counting,
    },
    statements() {
      const seen = statements;
      statements = 0;
      return seen;
    },
  };
}

/** Returns only the row count and the generated key of a new record. */
function silent(session: Session): Session {
  return {
    read: session.read,
    async insert(insert) {
      const at = insert.returning.findIndex(({ field }) => field.isKey);
      const { count, rows } = await session.insert({ ...insert, checks: [] });
      const insertedId = (rows[0] as Row | undefined)?.[at];
      return { count, rows: [], ...(typeof insertedId === 'number' && { insertedId }) };
    },
    update: async (update) => ({ count: (await session.update({ ...update, checks: [] })).count, rows: [] }),
    delete: async (remove) => ({ count: (await session.delete(remove)).count, rows: [] }),
  };
}
