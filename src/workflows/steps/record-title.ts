// Selects the display title of a record: a field with a typical name for titles. Only fields visible to the user are
// considered.
import type { Engine } from '../../agent/engine.ts';
import type { Access } from '../../core/caller.ts';

const MAX_LETTERS = 80;

/**
 * Best candidates first; the fields of one entry form a title together. Names are compared without case and
 * punctuation.
 */
const titleCandidates: readonly (readonly string[])[] = [
  ...['title', 'name', 'displayname', 'fullname', 'label'].map((one) => [one]),
  ['firstname', 'lastname'],
  ...['subject', 'lastname', 'username', 'email', 'number', 'reference', 'code'].map((one) => [one]),
];

const normalizeName = (name: string): string => name.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase();

/** Names of the fields that form the title. Empty if no field has a suitable name. */
export function findTitleFields(engine: Engine, access: Access, collection: string): readonly string[] {
  const { fields } = engine.describe(access, collection);
  const texts = fields.filter(({ type, isKey }) => type === 'String' && !isKey);
  for (const names of titleCandidates) {
    const found = names.map((name) => texts.find((field) => normalizeName(field.name) === name)?.name);
    if (found.every((name) => name !== undefined)) return found;
  }
  // For example company_name.
  const similar = texts.find(({ name }) => /(name|title)$/.test(normalizeName(name)));
  return similar ? [similar.name] : [];
}

/** Returns the title in one line; undefined if the fields are empty. */
export function formatTitle(values: readonly unknown[]): string | undefined {
  const words = values.flatMap((value) => (value == null ? [] : String(value).split(/\s+/)));
  const letters = [...words.filter(Boolean).join(' ')];
  if (letters.length === 0) return undefined;
  return letters.length > MAX_LETTERS ? `${letters.slice(0, MAX_LETTERS - 1).join('')}…` : letters.join('');
}
