// The statements of the engine with their values, taken from the drivers while the tools run once in this process.
import mysql from 'mysql2';
import pg from 'pg';
import type { Operation } from '../operations.ts';
import { readStatements } from '../statements.ts';

export interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
}

type Call = (...given: unknown[]) => unknown;
type Prototype = Record<string, Call>;

/** The statement of a call of a driver: a text or an object, then the values if the object has none. */
function statementOf([asked, values]: readonly unknown[]): Statement {
  if (typeof asked === 'string') return { sql: asked, values: Array.isArray(values) ? values : [] };
  const { sql, text, values: own } = asked as { sql?: string; text?: string; values?: readonly unknown[] };
  return { sql: sql ?? text ?? '', values: own ?? (Array.isArray(values) ? values : []) };
}

/** The reading statements of each operation, by its name. */
export async function captureStatements(
  url: string,
  operations: readonly Operation[],
): Promise<ReadonlyMap<string, readonly Statement[]>> {
  const captured = new Map<string, readonly Statement[]>();
  for (const operation of operations) {
    const seen: Statement[] = [];
    const restore = [
      watch(pg.Client.prototype as unknown as Prototype, 'query', seen),
      watch(mysql.Connection.prototype as unknown as Prototype, 'execute', seen),
    ];
    try {
      const texts = (await readStatements(url, [operation])).get(operation.name) ?? [];
      captured.set(
        operation.name,
        seen.filter(({ sql }) => texts.includes(sql)),
      );
    } finally {
      for (const each of restore) each();
    }
  }
  return captured;
}

function watch(prototype: Prototype, name: string, seen: Statement[]): () => void {
  const original = prototype[name]!;
  prototype[name] = function (this: unknown, ...given) {
    seen.push(statementOf(given));
    return original.apply(this, given);
  };
  return () => {
    prototype[name] = original;
  };
}
