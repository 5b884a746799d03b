// The work of the bare servers for one call: the same SQL on the same database, and the same bytes in the
// response. They do not check tokens, permissions or arguments. A write also runs the two statements of an audit,
// unless its operation says otherwise.
import { readFileSync } from 'node:fs';
import { largeOperations } from '../large/operations.ts';
import { type Operation, operations } from '../operations.ts';
import { openAudit } from './audit.ts';
import { openDatabase } from './database.ts';

export interface Work {
  /** Statements that run in order; those of a write run in one transaction. */
  readonly sql: readonly string[];
  /** The result to send if there is no SQL. */
  readonly result: unknown;
  readonly columns: readonly string[];
  readonly nextCursor?: string;
}

const lists = { tools: operations, large: largeOperations(1) } as const;

export interface Works {
  readonly databaseUrl: string;
  /** The URL of a Portico storage, for the audit. */
  readonly storage: string;
  /** The list that has the operations of the works. */
  readonly list: keyof typeof lists;
  /** By operation name. */
  readonly works: Readonly<Record<string, Work>>;
}

interface Message {
  readonly id: string;
  readonly params?: { readonly arguments: Readonly<Record<string, unknown>> };
}
export type Answer = (message: Message) => string | Promise<string>;

type Answered = (given: Readonly<Record<string, unknown>>) => unknown;

export function readWorks(): Works {
  return JSON.parse(readFileSync(process.env.BENCH_WORKS!, 'utf8')) as Works;
}

export function prepareAnswer({ databaseUrl, storage, list, works }: Works): Answer {
  const database = openDatabase(databaseUrl);
  const audit = openAudit(storage);
  const handlers = new Map(lists[list].map((operation) => [operation.name, prepare(operation, works[operation.name])]));

  function prepare(
    { answers, bindings, pageSize, unaudited }: Operation,
    work: Work | undefined,
  ): Answered | undefined {
    if (!work) return undefined;
    const { sql, columns, nextCursor, result } = work;
    const [text] = sql;
    if (answers === 'text' || text === undefined) return () => result;
    if (answers === 'written') return write;
    const shape = answers === 'page' ? page : groups;
    return (given) => {
      const rows = database.read(text, bindings!(given)[0]!);
      return rows instanceof Promise ? rows.then(shape) : shape(rows);
    };

    function page(found: unknown[][]) {
      const rows = found.slice(0, pageSize!).map((row) => row.slice(0, columns.length));
      return textResult({ columns, rows, hasMore: found.length > pageSize!, nextCursor });
    }

    function groups(found: unknown[][]) {
      return textResult({ columns, rows: found.map(([value, group]) => [group, Number(value)]), hasMore: false });
    }

    async function write(given: Readonly<Record<string, unknown>>) {
      const mark = unaudited ? undefined : audit.begin(String(given.collectionName));
      const rows = await database.write(sql, bindings!(given));
      const [row] = rows;
      if (mark !== undefined) audit.complete(mark, [String(row![0])]);
      return textResult({ count: 1, ids: [String(row![0])], columns, rows });
    }
  }

  return ({ id, params }) => {
    const answered = handlers.get(id)!(params?.arguments ?? {});
    return answered instanceof Promise ? answered.then((result) => envelope(id, result)) : envelope(id, answered);
  };
}

const envelope = (id: string, result: unknown): string => JSON.stringify({ result, jsonrpc: '2.0', id });

const textResult = (value: unknown) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
