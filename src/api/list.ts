// What the lists of the public API have in common: a cursor, which is the place after the last entry with a mark of the query that
// it belongs to.
import { fail } from '../core/errors.ts';
import { markOf } from '../core/secret.ts';

/** Of everything that decides which entries a list has, but for how many are sent. */
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

/** Of a list whose place is the id of its last entry, a UUID. */
export const writeIdCursor = (id: string, mark: string): string =>
  Buffer.from(JSON.stringify([mark, id])).toString('base64url');

/** INVALID_CURSOR when it was not made for this query. */
export function readIdCursor(cursor: string, mark: string): string {
  const bytes = Buffer.from(cursor, 'base64url');
  const [, marked, id] = /^\["([^"]*)","([0-9a-f-]{36})"\]$/.exec(bytes.toString()) ?? [];
  const isWhole = bytes.toString('base64url') === cursor;
  return isWhole && marked === mark && id !== undefined ? id : fail('INVALID_CURSOR', {});
}

/** As many numbers as the place has. INVALID_CURSOR when it was not made for this query. */
export function readCursor(cursor: string, mark: string, numbers: number): readonly number[] {
  const bytes = Buffer.from(cursor, 'base64url');
  const [, marked, place = ''] = /^\["([^"]*)"((?:,\d{1,15})+)\]$/.exec(bytes.toString()) ?? [];
  const found = place.split(',').slice(1).map(Number);
  // Decoding passes over what is no base64url.
  const isWhole = bytes.toString('base64url') === cursor;
  return isWhole && marked === mark && found.length === numbers ? found : fail('INVALID_CURSOR', {});
}
