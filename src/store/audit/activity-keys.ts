// Search keys of activity entries, for values that are too long to index.
import { hashToken } from '../../core/secret.ts';

const KEY_MOST = 100;

/** The key in `activity_records`: the id, or its hash when it is long or contains NUL. */
export function recordKeyOf(recordId: string): string {
  // PostgreSQL text cannot contain NUL.
  const asIs = recordId.length <= KEY_MOST && !recordId.includes('\0');
  return asIs ? recordId : `sha256:${hashToken(recordId)}`;
}

export function recordKeysOf(recordIds: readonly string[] | undefined): readonly string[] {
  if (!recordIds || recordIds.length === 0) return [];
  return recordIds.length === 1 ? [recordKeyOf(recordIds[0]!)] : [...new Set(recordIds.map(recordKeyOf))];
}

/** Cached: there are few clients, and each calls often. */
const known = new Map<string, number>();
const KNOWN_MOST = 1000;

/** A 52-bit hash of a client name, ignoring case and surrounding spaces; never 0. */
export function clientKeyOf(name: string): number {
  const found = known.get(name);
  if (found !== undefined) return found;
  const folded = name.trim().normalize('NFC').toLowerCase();
  const key = Number.parseInt(Buffer.from(hashToken(folded), 'base64url').toString('hex').slice(0, 13), 16) || 1;
  if (known.size >= KNOWN_MOST) known.clear();
  known.set(name, key);
  return key;
}
