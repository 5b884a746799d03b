// What collections and fields mean: what code says about them, else what administrators say in the console, else the
// comments of the database. The text of a comment is untrusted: models read it.

import type { FieldMeaning, Meaning } from '../../core/caller/meanings.ts';
import type { Access } from '../../core/caller.ts';
import { visibleName } from '../../core/suggestions/visible-text.ts';
import type { Collection, Column, Relation } from './types.ts';

const MAX_COMMENT_CHARACTERS = 200;

/** The members `meaning` and `codeMeaning`, absent if nothing is known. `other`: what holds if code says nothing. */
export function meaningOf<M extends Meaning | FieldMeaning>(
  byCode: M | undefined,
  other: string | M | undefined,
): { readonly meaning?: M; readonly codeMeaning?: M } {
  const basis = typeof other === 'string' ? { description: shorten(visibleName(other)) } : other;
  const meaning = clean({ ...basis, ...byCode } as M);
  return { ...(meaning && { meaning }), ...(byCode && { codeMeaning: byCode }) };
}

/** With what the console says about the collection. */
export function collectionMeaning(access: Access, collection: Collection): Meaning | undefined {
  return withStored(access.meanings?.collections.get(collection.name)?.meaning, collection);
}

/** With what the console says about the field or relation. */
export function fieldMeaning(
  access: Access,
  { name: collection, isExternal }: Collection,
  field: Column | Relation,
): FieldMeaning | undefined {
  const stored = isExternal ? undefined : access.meanings?.collections.get(collection)?.fields.get(field.name);
  if (!stored || field.kind !== 'column' || !field.isKey) return withStored<FieldMeaning>(stored, field);
  // A record needs its key.
  const { hiddenByDefault: _, ...rest } = stored;
  return withStored<FieldMeaning>(rest, field);
}

function withStored<M extends Meaning | FieldMeaning>(
  stored: M | undefined,
  { meaning, codeMeaning }: { readonly meaning?: M; readonly codeMeaning?: M },
): M | undefined {
  return stored ? clean({ ...meaning, ...stored, ...codeMeaning } as M) : meaning;
}

/** An empty description is none. Undefined if nothing is left. */
function clean<M extends Meaning | FieldMeaning>({ description, ...rest }: M): M | undefined {
  const text = visibleName(description ?? '');
  const meaning = { ...(text !== '' && { description: text }), ...rest } as unknown as M;
  return Object.keys(meaning).length > 0 ? Object.freeze(meaning) : undefined;
}

/** Cuts between characters. */
function shorten(text: string): string {
  const characters = [...text];
  return characters.length <= MAX_COMMENT_CHARACTERS
    ? text
    : `${characters
        .slice(0, MAX_COMMENT_CHARACTERS - 1)
        .join('')
        .trimEnd()}…`;
}
