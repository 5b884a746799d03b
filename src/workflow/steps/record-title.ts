// By what people know a record: a field of its collection that is named as names are. What is hidden from who asks is not among
// the fields that he is described, and so is never taken.
import type { Engine } from '../../agent/engine.ts';
import type { Access } from '../../core/caller.ts';

const MOST_LETTERS = 80;

/** The best first; each is a set of fields that say it together. Names are compared without case and underscores. */
const wanted: readonly (readonly string[])[] = [
  ...['title', 'name', 'displayname', 'fullname', 'label'].map((one) => [one]),
  ['firstname', 'lastname'],
  ...['subject', 'lastname', 'username', 'email', 'number', 'reference', 'code'].map((one) => [one]),
];

const plain = (name: string): string => name.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase();

/** Names of fields that say together what the record is; none where no field of the collection is named so. */
export function titleFieldsOf(engine: Engine, access: Access, collection: string): readonly string[] {
  const { fields } = engine.describe(access, collection);
  const texts = fields.filter(({ type, isKey }) => type === 'String' && !isKey);
  for (const names of wanted) {
    const found = names.map((name) => texts.find((field) => plain(field.name) === name)?.name);
    if (found.every((name) => name !== undefined)) return found;
  }
  // Such as company_name.
  const similar = texts.find(({ name }) => /(name|title)$/.test(plain(name)));
  return similar ? [similar.name] : [];
}

/** In one line; undefined where the fields hold nothing. */
export function titleOf(values: readonly unknown[]): string | undefined {
  const words = values.flatMap((value) => (value == null ? [] : String(value).split(/\s+/)));
  const letters = [...words.filter(Boolean).join(' ')];
  if (letters.length === 0) return undefined;
  return letters.length > MOST_LETTERS ? `${letters.slice(0, MOST_LETTERS - 1).join('')}…` : letters.join('');
}
