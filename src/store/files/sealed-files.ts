// Encrypts the names and contents of files before they are stored. The key has 256 random bits and is held by the
// caller that requested the file; the storage holds only its hash. Used for files of tools (mcp/uploads) and of runs
// (workflows/runs/files.ts).
import { createHash } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import { decrypt, encrypt, hashToken, randomToken } from '../../core/secret.ts';
import type { FileRow, FileRows } from './types.ts';

/** Limit of simultaneous files per user. */
const MAX_FILES = 20;
const PART_BYTES = 262_144;

/** The size in bytes, the number of parts, and the SHA-256 of the content (base64url). */
interface Written {
  readonly bytes: number;
  readonly parts: number;
  readonly sha256: string;
}

interface SealedFiles {
  /** `about`: JSON. Resolves with the key. TOO_MANY_FILES when the user is at the limit. */
  add(
    file: Pick<FileRow, 'kind' | 'userId' | 'state'> & { readonly about: object; readonly seconds: number },
  ): Promise<string>;
  /** The value of `about` from `add`. */
  aboutOf<About>(key: string, row: Pick<FileRow, 'sealed'>): About;
  /** Writes the parts without marking the file as complete. BODY_TOO_LARGE. */
  write(key: string, body: AsyncIterable<Buffer>, limitBytes: number): Promise<Written>;
  /** The parts in order; undefined in place of a part that has been deleted. */
  read(key: string, row: Pick<FileRow, 'id' | 'parts'>): AsyncIterable<Buffer | undefined>;
}

export function createSealedFiles(rows: FileRows, clock: Pick<Clock, 'now'>): SealedFiles {
  return {
    async add({ about, seconds, ...file }) {
      await rows.sweep();
      if ((await rows.countOf(file.userId)) >= MAX_FILES) fail('TOO_MANY_FILES', { limit: MAX_FILES });
      const key = randomToken();
      const sealed = encrypt(JSON.stringify(about), key);
      const expiresAt = clock.now() + seconds * 1000;
      await rows.add({ ...file, id: hashToken(key), sealed, bytes: 0, parts: 0, expiresAt });
      return key;
    },
    aboutOf: <About>(key: string, { sealed }: Pick<FileRow, 'sealed'>) => JSON.parse(decrypt(sealed, key)) as About,
    async write(key, body, limitBytes) {
      const id = hashToken(key);
      const hash = createHash('sha256');
      let [bytes, count] = [0, 0];
      for await (const part of inParts(body)) {
        bytes += part.length;
        if (bytes > limitBytes) fail('BODY_TOO_LARGE', { limitBytes });
        hash.update(part);
        await rows.putPart(id, count, encrypt(part.toString('base64'), key));
        count++;
      }
      return { bytes, parts: count, sha256: hash.digest('base64url') };
    },
    async *read(key, { id, parts }) {
      for (let part = 0; part < parts; part++) {
        const sealed = await rows.findPart(id, part);
        yield sealed === undefined ? undefined : Buffer.from(decrypt(sealed, key), 'base64');
      }
    },
  };
}

/** Splits the bytes into parts of equal size, except for the last. */
async function* inParts(body: AsyncIterable<Buffer | string>): AsyncIterable<Buffer> {
  let waiting: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    waiting.push(bytes);
    size += bytes.length;
    if (size < PART_BYTES) continue;
    let whole = Buffer.concat(waiting);
    for (; whole.length >= PART_BYTES; whole = whole.subarray(PART_BYTES)) yield whole.subarray(0, PART_BYTES);
    waiting = [whole];
    size = whole.length;
  }
  if (size > 0) yield Buffer.concat(waiting);
}

const NAME_CHARACTERS = 128;

/**
 * The base name, without folders and invisible characters (control, direction, zero width, lone surrogates). A long
 * name keeps its end. Undefined when the result is empty.
 */
export function plainFileName(input: string): string | undefined {
  const last = input.split(/[\\/]/).at(-1) ?? '';
  const plain = last.replace(/\p{C}/gu, '').trim().slice(-NAME_CHARACTERS);
  return plain !== '' && !/^\.+$/.test(plain) ? plain : undefined;
}

/** Undefined when the text is not a media type. */
export function plainMediaType(input: string): string | undefined {
  const type = input.toLowerCase();
  // RFC 6838 section 4.2: the characters of a type and a subtype.
  return /^[a-z0-9][\w!#$&^.+-]{0,126}\/[a-z0-9][\w!#$&^.+-]{0,126}$/.test(type) ? type : undefined;
}
