// Cursors for the lists of the public API. A cursor holds the position after the last entry and a hash of its query.
import { fail } from '../core/errors.ts';
import { markOf } from '../core/secret.ts';

/** Hashes everything that selects entries, except the page size. */
export function markQuery(
  kind: string,
  { environmentName }: Readonly<Record<string, string>>,
  sent: Readonly<Record<string, unknown>>,
): string {
  return markOf(JSON.stringify([kind, environmentName, Object.entries(sent).sort(byName)]));
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);

export function writeCursor(place: readonly number[], mark: string): string {
  return Buffer.from(JSON.stringify([mark, ...place])).toString('base64url');
}

/** For lists with a UUID as the position. */
export const writeIdCursor = (id: string, mark: string): string =>
  Buffer.from(JSON.stringify([mark, id])).toString('base64url');

/** Throws INVALID_CURSOR if the cursor belongs to another query. */
export function readIdCursor(cursor: string, mark: string): string {
  const bytes = Buffer.from(cursor, 'base64url');
  const [, marked, id] = /^\["([^"]*)","([0-9a-f-]{36})"\]$/.exec(bytes.toString()) ?? [];
  const isWhole = bytes.toString('base64url') === cursor;
  return isWhole && marked === mark && id !== undefined ? id : fail('INVALID_CURSOR', {});
}

/** `numbers`: how many numbers the position has. Throws INVALID_CURSOR if the cursor belongs to another query. */
export function readCursor(cursor: string, mark: string, numbers: number): readonly number[] {
  const bytes = Buffer.from(cursor, 'base64url');
  const [, marked, place = ''] = /^\["([^"]*)"((?:,\d{1,15})+)\]$/.exec(bytes.toString()) ?? [];
  const found = place.split(',').slice(1).map(Number);
  // The decoder ignores invalid base64url characters, so the text is compared again.
  const isWhole = bytes.toString('base64url') === cursor;
  return isWhole && marked === mark && found.length === numbers ? found : fail('INVALID_CURSOR', {});
}
