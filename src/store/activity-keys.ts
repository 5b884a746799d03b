// What an activity entry is found by that is too long for an index as it is.
import { hashToken } from '../core/secret.ts';

const KEY_MOST = 100;

/** As it is kept in `activity_records`: the id itself, of a long one its hash. */
export function recordKeyOf(recordId: string): string {
  // PostgreSQL keeps no NUL in a text.
  const asIs = recordId.length <= KEY_MOST && !recordId.includes('\0');
  return asIs ? recordId : `sha256:${hashToken(recordId)}`;
}

export function recordKeysOf(recordIds: readonly string[] | undefined): readonly string[] {
  if (!recordIds || recordIds.length === 0) return [];
  return recordIds.length === 1 ? [recordKeyOf(recordIds[0]!)] : [...new Set(recordIds.map(recordKeyOf))];
}

/** There are few clients, and each calls often. */
const known = new Map<string, number>();
const KNOWN_MOST = 1000;

/** 52 bits that stand for the name of a client, in whatever case it is written; never 0. */
export function clientKeyOf(name: string): number {
  const found = known.get(name);
  if (found !== undefined) return found;
  const folded = name.trim().normalize('NFC').toLowerCase();
  const key = Number.parseInt(Buffer.from(hashToken(folded), 'base64url').toString('hex').slice(0, 13), 16) || 1;
  if (known.size >= KNOWN_MOST) known.clear();
  known.set(name, key);
  return key;
}
