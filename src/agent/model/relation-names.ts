// Better names for relations whose derived name is long or unclear, from the foreign key column: `ReportsTo` gives
// `manager` and `reports`, `store_id` gives `store`. They depend only on table and column names.
import { foldName } from '../../core/suggestions.ts';
import type { Collection } from './types.ts';

/** The two relations of one foreign key, with their derived names. */
export interface NamedReference {
  readonly owner: Collection;
  readonly target: Collection;
  readonly column: string | undefined;
  readonly one: NamedSide;
  readonly other: NamedSide;
}

interface NamedSide {
  readonly name: string;
  /** Short names do not change. */
  readonly isLong: boolean;
}

/** Names for foreign key columns that do not end in `id`. */
const roles: Readonly<Record<string, string>> = {
  reportsto: 'manager',
  managedby: 'manager',
  supervisedby: 'supervisor',
  createdby: 'creator',
  updatedby: 'updater',
  approvedby: 'approver',
  ownedby: 'owner',
  assignedto: 'assignee',
  parent: 'parent',
};

/** The other side of a self-referencing relation. */
const inverses: Readonly<Record<string, string>> = {
  manager: 'reports',
  parent: 'children',
  supervisor: 'supervisees',
};

/** Returns better names by collection and derived name. A name that is not unique in its collection is left out. */
export function findBetterNames(
  references: readonly NamedReference[],
  taken: (home: Collection, name: string) => boolean,
): Map<Collection, Map<string, string>> {
  const better = new Map<Collection, Map<string, string>>();
  const ones = references.map((reference) => ({
    home: reference.owner,
    from: reference.one.name,
    to: reference.one.isLong ? roleOf(reference) : undefined,
  }));
  assignNames(ones, taken, better);
  const others = references.map((reference) => ({
    home: reference.target,
    from: reference.other.name,
    to: inverseOf(reference, better.get(reference.owner)?.get(reference.one.name)),
  }));
  const given = new Map([...better].map(([home, names]) => [home, new Set(names.values())]));
  assignNames(others, (home, name) => taken(home, name) || given.get(home)?.has(name) === true, better);
  return better;
}

interface NameChoice {
  readonly home: Collection;
  readonly from: string;
  readonly to: string | undefined;
}

/** If two relations could get the same name, neither gets it. */
function assignNames(
  choices: readonly NameChoice[],
  taken: (home: Collection, name: string) => boolean,
  better: Map<Collection, Map<string, string>>,
): void {
  const counts = new Map<Collection, Map<string, number>>();
  for (const { home, to } of choices) {
    if (to === undefined) continue;
    const names = counts.get(home) ?? new Map<string, number>();
    counts.set(home, names.set(to, (names.get(to) ?? 0) + 1));
  }
  for (const { home, from, to } of choices) {
    if (to === undefined || taken(home, to) || counts.get(home)!.get(to)! > 1) continue;
    const names = better.get(home) ?? new Map<string, string>();
    better.set(home, names.set(from, to));
  }
}

function roleOf({ column, target }: NamedReference): string | undefined {
  if (column === undefined) return undefined;
  const role = roles[foldName(column)];
  if (role !== undefined) return role;
  const stem = column.replace(/(?<=.)(?:_id|Id|_ID)$/, '');
  if (stem !== column) return stem.replaceAll(':', '_');
  if (foldName(column) === foldName(target.name)) return undefined;
  const name = target.name.charAt(0).toUpperCase() + target.name.slice(1);
  return (/[A-Z]/.test(column) ? `${column}${name}` : `${column}_${target.name}`).replaceAll(':', '_');
}

function inverseOf(
  { owner, target, column, one: side, other }: NamedReference,
  chosen: string | undefined,
): string | undefined {
  const one = chosen ?? (side.isLong ? undefined : side.name);
  if (one === undefined) return undefined;
  const known = owner === target ? inverses[foldName(one)] : undefined;
  if (known !== undefined) return known;
  return other.isLong && column !== undefined ? `${owner.name.replaceAll(':', '_')}_as_${one}` : undefined;
}
