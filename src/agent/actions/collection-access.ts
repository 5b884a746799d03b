// What actions need of the engine.
import type { Access } from '../../core/caller.ts';
import type { StopSignal } from '../../core/clock/stop.ts';
import type { PlainFilter } from '../../core/filter.ts';
import type { AiProvider } from '../ai/definitions.ts';
import type { InsideCollection } from '../customize/context.ts';
import type { CallOptions } from '../requests.ts';
import type { PrimitiveType } from '../sources/column-types.ts';
import type { ActionRecord } from './definitions.ts';

export interface KeyColumn {
  readonly name: string;
  /** What code calls it. */
  readonly insideName: string;
  readonly type: PrimitiveType | 'list';
}

export interface ActionQuery {
  readonly collection: string;
  readonly filter: PlainFilter | null;
  readonly search?: string;
  readonly searchExtended?: boolean;
  readonly timezone?: string;
  readonly fields: readonly string[];
  /** INVALID_ARGUMENT when there are more. */
  readonly limit: number;
}

export interface ActionDoor {
  /** Whether it is the e-mail address of a user; any text is where nobody keeps users. */
  isUser(email: string): Promise<boolean>;
  /** Of every collection. */
  names(): readonly string[];
  /** By name; undefined for a collection that does not exist. Empty when it has no key. */
  keyOf(collection: string): readonly KeyColumn[] | undefined;
  /** Inside names of what is stored of a record, hidden fields too. */
  storedOf(collection: string): readonly string[];
  /** Every record of the query in key order; the row scope of the access is in it. */
  list(access: Access, query: ActionQuery, signal: StopSignal | undefined): Promise<ActionRecord[]>;
  /** The same in inside names, for code, without hooks. */
  listInside(
    access: Access,
    query: Pick<ActionQuery, 'collection' | 'filter' | 'fields'>,
    signal: StopSignal | undefined,
  ): Promise<ActionRecord[]>;
  /** FORBIDDEN where the database cannot decide the row scope. */
  needDecidedScope(access: Access, collection: string, verb: string): void;
  /** The row scope in inside names. */
  scopeOf(access: Access, collection: string): PlainFilter | null;
  /** What it writes is added to `written`. */
  inside(access: Access, collection: string, options: Pick<CallOptions, 'signal' | 'written'>): InsideCollection;
  /** What code may ask; null when none was added. */
  ai(signal: StopSignal | undefined): AiProvider | null;
}
