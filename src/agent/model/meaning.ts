// What collections and fields mean: what code says about them, and else the comments of the database. The text of a
// comment is untrusted: models read it.
import { visibleName } from '../../core/suggestions/visible-text.ts';
import type { FieldMeaning, Meaning } from '../customize/definitions.ts';

const MAX_COMMENT_CHARACTERS = 200;

/** The member `meaning`, absent if nothing is known. `other`: what holds if code says nothing. */
export function meaningOf<M extends Meaning | FieldMeaning>(
  byCode: M | undefined,
  other: string | M | undefined,
): { readonly meaning?: M } {
  const basis = typeof other === 'string' ? { description: shorten(visibleName(other)) } : other;
  const { description, ...rest } = { ...basis, ...byCode } as M;
  const text = visibleName(description ?? '');
  const meaning = { ...(text !== '' && { description: text }), ...rest } as M;
  return Object.keys(meaning).length > 0 ? { meaning: Object.freeze(meaning) } : {};
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
