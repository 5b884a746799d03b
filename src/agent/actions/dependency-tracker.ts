// Calls each handler of a form once, and again only if a value that it read has changed. A proxy of the values records
// the reads. A cell holds the result of a call.
import { isDeepStrictEqual } from 'node:util';
import type { FormValues } from './definitions.ts';

/** The state that handlers can read. */
interface FormState {
  values(): ReadonlyMap<string, unknown>;
  hasChanged(field: string): boolean;
}

export interface Cell {
  readonly result: Promise<unknown>;
}

interface Reads {
  readonly values: Map<string, unknown>;
  readonly changes: Map<string, boolean>;
  /** The ids of the fields with a value, if the handler listed them. */
  listed: readonly string[] | undefined;
}

/** The tracked members of a handler's context. */
export interface TrackedContext {
  readonly formValues: FormValues;
  hasFieldChanged(fieldName: string): boolean;
}

interface DependencyTracker {
  /** The cell of the last call if its reads are unchanged, ignoring the field `own`; otherwise that of a new call. */
  evaluate(handler: (looking: TrackedContext) => Promise<unknown>, known: unknown, own?: string): Cell;
  /** The fields that a handler has read. */
  dependencies(): ReadonlySet<string>;
}

/** `known` in `ask` identifies the call. It is the function of the definition. */
export function createDependencyTracker(state: FormState): DependencyTracker {
  const cells = new Map<unknown, Cell & { readonly reads: Reads }>();

  const isFresh = ({ values, changes, listed }: Reads, own: string | undefined): boolean => {
    const current = state.values();
    return (
      [...values].every(([id, seen]) => id === own || isDeepStrictEqual(current.get(id), seen)) &&
      [...changes].every(([id, seen]) => state.hasChanged(id) === seen) &&
      (!listed || isDeepStrictEqual(namesOf(current), listed))
    );
  };

  return {
    evaluate(handler, known, own) {
      const cell = cells.get(known);
      if (cell && isFresh(cell.reads, own)) return cell;
      const reads: Reads = { values: new Map(), changes: new Map(), listed: undefined };
      const looking: TrackedContext = {
        formValues: trackValues(state, reads),
        hasFieldChanged(field) {
          const changed = state.hasChanged(field);
          reads.changes.set(field, changed);
          return changed;
        },
      };
      const cellWithReads = { reads, result: handler(looking) };
      cells.set(known, cellWithReads);
      return cellWithReads;
    },
    dependencies() {
      const ids = [...cells.values()].flatMap(({ reads }) => [
        ...reads.values.keys(),
        ...reads.changes.keys(),
        ...(reads.listed ?? []),
      ]);
      return new Set(ids);
    },
  };
}

const namesOf = (values: ReadonlyMap<string, unknown>): string[] => [...values.keys()].sort();

function trackValues(state: FormState, reads: Reads): FormValues {
  const read = (id: string): unknown => {
    const value = state.values().get(id);
    reads.values.set(id, value);
    return value;
  };
  const refuse = () => {
    throw new TypeError("formValues cannot be changed: give a field a 'value' function instead");
  };
  return new Proxy<FormValues>(
    {},
    {
      get: (_, id) => (typeof id === 'string' ? read(id) : undefined),
      has: (_, id) => typeof id === 'string' && read(id) !== undefined,
      ownKeys() {
        reads.listed = namesOf(state.values());
        return [...reads.listed];
      },
      getOwnPropertyDescriptor(_, id) {
        if (typeof id !== 'string' || !state.values().has(id)) return undefined;
        return { value: read(id), enumerable: true, configurable: true };
      },
      set: refuse,
      defineProperty: refuse,
      deleteProperty: refuse,
    },
  );
}
