// Cursors for the lists of the public API. A cursor holds the position after the last entry and a hash of its query.
import { fail } from '../core/errors.ts';
import { fingerprintOf } from '../core/secret.ts';

/** Hashes everything that selects entries, except the page size. */
export function hashQuery(
  kind: string,
  { environmentName }: Readonly<Record<string, string>>,
  parameters: Readonly<Record<string, unknown>>,
): string {
  return fingerprintOf(JSON.stringify([kind, environmentName, Object.entries(parameters).sort(byName)]));
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);

export function formatCursor(position: readonly number[], queryHash: string): string {
  return Buffer.from(JSON.stringify([queryHash, ...position])).toString('base64url');
}

/** For lists with a UUID as the position. */
export const formatIdCursor = (id: string, queryHash: string): string =>
  Buffer.from(JSON.stringify([queryHash, id])).toString('base64url');

/** Throws INVALID_CURSOR if the cursor belongs to another query. */
export function parseIdCursor(cursor: string, queryHash: string): string {
  const bytes = Buffer.from(cursor, 'base64url');
  const [, cursorHash, id] = /^\["([^"]*)","([0-9a-f-]{36})"\]$/.exec(bytes.toString()) ?? [];
  const isComplete = bytes.toString('base64url') === cursor;
  return isComplete && cursorHash === queryHash && id !== undefined ? id : fail('INVALID_CURSOR', {});
}

/** `numbers`: how many numbers the position has. Throws INVALID_CURSOR if the cursor belongs to another query. */
export function parseCursor(cursor: string, queryHash: string, numbers: number): readonly number[] {
  const bytes = Buffer.from(cursor, 'base64url');
  const [, cursorHash, position = ''] = /^\["([^"]*)"((?:,\d{1,15})+)\]$/.exec(bytes.toString()) ?? [];
  const values = position.split(',').slice(1).map(Number);
  // The decoder ignores invalid base64url characters, so the text is compared again.
  const isComplete = bytes.toString('base64url') === cursor;
  return isComplete && cursorHash === queryHash && values.length === numbers ? values : fail('INVALID_CURSOR', {});
}
