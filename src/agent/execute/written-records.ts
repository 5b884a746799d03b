// Collects every record that a call writes: by the functions in write.ts, by customization code, and by cascades of the
// database. agent/write/effects.ts computes the effects of the call from this list.
import type { Collection } from '../model/types.ts';
import type { Target } from '../plan/write.ts';
import type { Row } from '../sources/statement.ts';

export type Change = 'created' | 'updated' | 'deleted';

/**
 * `call`: the call names the record, and its count includes it. `relation`: a related record, written with it.
 * `cascade`: the database changes it by itself. `code`: customization code writes it during the call.
 */
export type Cause = 'call' | 'relation' | 'cascade' | 'code';

export interface WriteLogEntry {
  readonly collection: Collection;
  readonly change: Change;
  readonly cause: Cause;
  readonly count: number;
  /** If the records are known: the columns of `target`, with canonical values. */
  readonly rows?: {
    readonly target: Target;
    /** For updates and deletes; absent if not read. One row for each record, in the order of `after`. */
    readonly before?: readonly Row[];
    /** For creates and updates. */
    readonly after?: readonly Row[];
  };
}

/** Learns of the writes of each transaction. Its functions never reject. */
interface TransactionHooks {
  /** Whether the previous values of updated records of the collection are needed. */
  readsPrevious(collection: string): boolean;
  /** Called before the commit, and again with the same list if the transaction starts again. */
  beforeCommit(list: readonly WriteLogEntry[]): Promise<void>;
  /** `isPreview`: the transaction was rolled back. */
  afterCommit(list: readonly WriteLogEntry[], isPreview: boolean): void;
}

/** Every record that a call writes. */
export interface WriteList extends Array<WriteLogEntry> {
  hooks?: TransactionHooks;
}

/** Receives the writes of one transaction. */
export interface WriteLog {
  /** Whether records are read before they are updated. */
  readonly readsPrevious: boolean;
  add(written: Omit<WriteLogEntry, 'cause'>): void;
  /** For writes by the database itself. */
  cascade(written: Omit<WriteLogEntry, 'cause'>): void;
  /** For related records that are written with those of the call. */
  readonly related: WriteLog;
}

/** `isCode`: customization code writes. `before`: whether to read the records of the call; others are always read. */
export function createWriteLog(
  list: WriteLogEntry[],
  { isCode, before: readsPrevious }: { readonly isCode: boolean; readonly before: boolean },
): WriteLog {
  const add = (cause: Cause) => (written: Omit<WriteLogEntry, 'cause'>) => void list.push({ ...written, cause });
  const cause = isCode ? 'code' : 'relation';
  const cascade = add(isCode ? 'code' : 'cascade');
  const along: WriteLog = {
    readsPrevious: true,
    add: add(cause),
    cascade,
    get related() {
      return along;
    },
  };
  return { readsPrevious, add: add(isCode ? 'code' : 'call'), cascade, related: along };
}
