// The field that names a record for people: the one that code chose, else a guess by name and type. The caller must see
// the field, so a hidden one is never used.
import type { Collection, Column } from './types.ts';

/** Names of fields that usually name a record, in order of preference. */
const usualNames: readonly (readonly string[])[] = [
  ['display name', 'full name', 'name', 'title', 'label'],
  ['number', 'reference', 'code', 'subject', 'sku'],
  ['email', 'email address', 'user name', 'username', 'login', 'slug'],
];

/** Undefined if no visible field fits. `columns`: those that the caller sees. */
export function findDisplayField(
  collection: Collection,
  columns: readonly Column[],
  isNamedOnly: (column: Column) => boolean,
): Column | undefined {
  const { displayField } = collection.rules;
  const chosen = displayField === undefined ? undefined : collection.internalFields.get(displayField.name);
  if (chosen?.kind === 'column' && columns.includes(chosen)) return chosen;
  const ranked = columns.flatMap((column) => {
    const rank = isNamedOnly(column) ? undefined : rankOf(collection, column);
    return rank === undefined ? [] : [{ column, rank }];
  });
  return ranked.reduce<(typeof ranked)[number] | undefined>(
    (best, each) => (best && best.rank <= each.rank ? best : each),
    undefined,
  )?.column;
}

/** Lower is better. A unique field names one record only, so it comes first among fields of one kind. */
function rankOf(collection: Collection, column: Column): number | undefined {
  const isText = column.type === 'String' || (column.type === 'Number' && isUnique(collection, column));
  if (!isText || (column.isKey && collection.key.length === 1)) return undefined;
  const name = toWords(column.name);
  const own = toWords(collection.name).replace(/s$/, '');
  const short = name.startsWith(`${own} `) ? name.slice(own.length + 1) : name;
  const kind = usualNames.findIndex((names) => names.includes(short));
  if (kind < 0) return undefined;
  return kind * 100 + (isUnique(collection, column) ? 0 : 50) + usualNames[kind]!.indexOf(short);
}

const isUnique = ({ uniqueKeys }: Collection, column: Column): boolean =>
  uniqueKeys.some((key) => key.length === 1 && key[0] === column);

/** `orderNumber` and `order_number` are `order number`. */
const toWords = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .toLowerCase()
    .replace(/^e mail/, 'email');
