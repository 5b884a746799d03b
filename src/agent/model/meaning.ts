// The meaning of collections and fields: from code, else from the console, else from the comments of the database. The
// text of a comment is untrusted: models read it.
import type { FieldMeaning, Meaning } from '../../core/caller/meanings.ts';
import type { Access } from '../../core/caller.ts';
import { visibleName } from '../../core/suggestions/visible-text.ts';
import type { Collection, Column, Relation } from './types.ts';

const MAX_COMMENT_CHARACTERS = 200;

/** The members `meaning` and `codeMeaning`, absent without a meaning. `other`: the default of what code leaves out. */
export function meaningOf<M extends Meaning | FieldMeaning>(
  byCode: M | undefined,
  other: string | M | undefined,
): { readonly meaning?: M; readonly codeMeaning?: M } {
  const basis = typeof other === 'string' ? { description: shorten(visibleName(other)) } : other;
  const meaning = clean({ ...basis, ...byCode } as M);
  return { ...(meaning && { meaning }), ...(byCode && { codeMeaning: byCode }) };
}

/** Code, console and comment together. */
export function collectionMeaning(access: Access, collection: Collection): Meaning | undefined {
  return withStored(access.meanings?.collections.get(collection.name)?.meaning, collection);
}

/** The same for a field or relation. */
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
