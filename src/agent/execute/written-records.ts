// Every record that a call writes, as it is written. The three functions that write records (write.ts), the writes
// of code by filter, and what the database does by itself (cascades) add to one list for each call; agent/write/effects.ts makes of it
// what dry run, approval, answer and activity log say.
import type { Collection } from '../model/types.ts';
import type { Target } from '../plan/write.ts';
import type { Row } from '../sources/statement.ts';

export type Change = 'created' | 'updated' | 'deleted';

/**
 * `call`: a record that the call names, and that its count counts. `relation`: a record at the end of a relation, written
 * along. `cascade`: the database changes it by itself. `code`: customization code writes it during the call.
 */
export type Cause = 'call' | 'relation' | 'cascade' | 'code';

export interface Written {
  readonly collection: Collection;
  readonly change: Change;
  readonly cause: Cause;
  readonly count: number;
  /** Where the records are known: rows as wide as the columns of `target`, in canonical values. */
  readonly rows?: {
    readonly target: Target;
    /** Of an update and a delete; absent where nobody looked. One for each record, in the order of `after`. */
    readonly before?: readonly Row[];
    /** Of a create and an update. */
    readonly after?: readonly Row[];
  };
}

/** What the writes of one transaction add to. */
export interface Ledger {
  /** Whether records are read before they are updated. */
  readonly before: boolean;
  add(written: Omit<Written, 'cause'>): void;
  /** Of what the database writes by itself. */
  cascade(written: Omit<Written, 'cause'>): void;
  /** For records that are written along with those of the call. */
  readonly along: Ledger;
}

/** `isCode`: customization code writes. `before`: also of the records that the call itself names, of others always. */
export function ledgerInto(
  list: Written[],
  { isCode, before }: { readonly isCode: boolean; readonly before: boolean },
): Ledger {
  const add = (cause: Cause) => (written: Omit<Written, 'cause'>) => void list.push({ ...written, cause });
  const cause = isCode ? 'code' : 'relation';
  const cascade = add(isCode ? 'code' : 'cascade');
  const along: Ledger = {
    before: true,
    add: add(cause),
    cascade,
    get along() {
      return along;
    },
  };
  return { before, add: add(isCode ? 'code' : 'call'), cascade, along };
}
