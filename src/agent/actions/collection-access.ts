// The interface between actions and the engine.
import type { Access } from '../../core/caller.ts';
import type { StopSignal } from '../../core/clock/stop.ts';
import type { PlainFilter } from '../../core/filter.ts';
import type { AiProvider } from '../ai/definitions.ts';
import type { UnscopedCollection } from '../customize/context.ts';
import type { CallOptions } from '../requests.ts';
import type { PrimitiveType } from '../sources/column-types.ts';
import type { ActionRecord } from './definitions.ts';

export interface KeyColumn {
  readonly name: string;
  /** The name in customization code. */
  readonly internalName: string;
  readonly type: PrimitiveType | 'list';
}

export interface ActionQuery {
  readonly collection: string;
  readonly filter: PlainFilter | null;
  readonly search?: string;
  readonly searchExtended?: boolean;
  readonly timezone?: string;
  readonly fields: readonly string[];
  /** INVALID_ARGUMENT if there are more. */
  readonly limit: number;
}

export interface ActionEngine {
  /** Whether this is the e-mail address of a user. Always true without a user store. */
  isUser(email: string): Promise<boolean>;
  /** The names of all collections. */
  names(): readonly string[];
  /** Undefined for an unknown collection, empty for a collection without a key. */
  keyOf(collection: string): readonly KeyColumn[] | undefined;
  /** The original names of all stored columns, including hidden ones. */
  storedOf(collection: string): readonly string[];
  /** All records of the query, in key order and within the row scope of the access. */
  list(access: Access, query: ActionQuery, signal: StopSignal | undefined): Promise<ActionRecord[]>;
  /** The same for customization code: by original names, and without hooks. */
  listInternal(
    access: Access,
    query: Pick<ActionQuery, 'collection' | 'filter' | 'fields'>,
    signal: StopSignal | undefined,
  ): Promise<ActionRecord[]>;
  /** FORBIDDEN if the database cannot decide the row scope. */
  requireNativeScope(access: Access, collection: string, verb: string): void;
  /** The row scope, by original names. */
  scopeOf(access: Access, collection: string): PlainFilter | null;
  /** Its writes are added to `written`. */
  unscopedCollection(
    access: Access,
    collection: string,
    options: Pick<CallOptions, 'signal' | 'written'>,
  ): UnscopedCollection;
  /** The AI provider for code; null if none was added. */
  ai(signal: StopSignal | undefined): AiProvider | null;
}
