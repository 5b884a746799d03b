// Files outside the protocol. For an upload, an assistant requests a URL, sends the file to it with PUT, and names it
// in the values of an action. For a download, a file that an action returns gets a URL of its own. Each URL contains a
// key of 256 random bits, which is the only credential. The storage holds its hash, and the stored content is
// encrypted with the key. Any process can therefore serve the file, and a copy of the storage reveals no names and no
// contents.
//
// An upload is received once. It belongs to the user who requested it, and the action that runs with it uses it up. A
// download can be fetched repeatedly until it expires, since clients prefetch links. Both expire after 15 minutes. An
// upload of a call that waits for approval lives until the decision, and a denial deletes it
// (mcp/approvals/uploads.ts).
import type { FormFile } from '../../agent/actions/definitions.ts';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import { fail } from '../../core/errors.ts';
import { hashToken, timingSafeEqualText } from '../../core/secret.ts';
import { createSealedFiles } from '../../store/files/sealed-files.ts';
import type { FileRow, FileRows } from '../../store/files/types.ts';

export const FILE_SECONDS = 900;

const uploadAdvice = 'Call requestActionFileUpload for another.';
const downloadAdvice = 'Execute the action again.';

interface FileMetadata {
  readonly name: string;
  readonly mimeType: string;
  /** Base64url; only for an upload with an announced hash. */
  readonly sha256?: string | undefined;
  /** Only for a download: the collection of its action. */
  readonly collection?: string;
}

export interface Files {
  /** Returns the key and the URL of a new upload. Throws TOO_MANY_FILES. */
  requestUpload(userId: number, metadata: FileMetadata): Promise<{ readonly key: string; readonly url: string }>;
  /**
   * Stores an upload. Throws FILE_GONE, FILE_SENT and BODY_TOO_LARGE, or INVALID_ARGUMENT if it differs from the
   * announcement; it can then be sent again.
   */
  receive(key: string, body: AsyncIterable<Buffer>): Promise<{ readonly bytes: number }>;
  /** The announced metadata of an upload. Throws FILE_GONE. */
  metadataOf(key: string): Promise<FileMetadata>;
  /** Undefined for an upload that is missing, not yet sent, in use, or another user's. */
  findUpload(userId: number, key: string): Promise<FormFile | undefined>;
  /** Like `findUpload`, and reserves the upload: later calls get undefined. */
  reserveUpload(userId: number, key: string): Promise<FormFile | undefined>;
  /** Extends the life of an upload to at least `until`, in milliseconds since the epoch. */
  extendUpload(userId: number, key: string, until: number): Promise<void>;
  /** Deletes an upload, unless it is in use or another user's. */
  deleteUpload(userId: number, key: string): Promise<void>;
  /** Ends a reservation: `used` deletes the upload, otherwise it becomes available again. */
  endReservation(key: string, used: boolean): Promise<void>;
  /**
   * Stores a download for `seconds`. Default: 15 minutes. Undefined if it exceeds the size limit. Throws
   * TOO_MANY_FILES.
   */
  createDownload(
    userId: number,
    metadata: FileMetadata,
    content: AsyncIterable<Buffer>,
    seconds?: number,
  ): Promise<DownloadLink | undefined>;
  /** Opens a download. Throws FILE_GONE. */
  open(
    key: string,
  ): Promise<
    FileMetadata & { readonly userId: number; readonly bytes: number; readonly content: () => AsyncIterable<Buffer> }
  >;
}

interface DownloadLink {
  readonly url: string;
  readonly bytes: number;
}

export function createFiles(parts: {
  readonly rows: FileRows;
  readonly config: Pick<Config, 'fileLimitBytes'>;
  readonly clock: Pick<Clock, 'now'>;
  /** The URL of the MCP endpoint, which is the base of file URLs. */
  readonly endpoint: () => string;
  /** Whether the user is still active; files of an inactive user cannot be fetched. */
  readonly isActive: (userId: number) => Promise<boolean>;
}): Files {
  const { rows, clock, endpoint, isActive } = parts;
  const limitBytes = parts.config.fileLimitBytes;

  const sealed = createSealedFiles(rows, clock);

  const add = (kind: FileRow['kind'], userId: number, about: FileMetadata, seconds = FILE_SECONDS): Promise<string> =>
    sealed.add({ kind, userId, about, state: kind === 'upload' ? 'asked' : 'arriving', seconds });

  const store = (key: string, body: AsyncIterable<Buffer>) => sealed.write(key, body, limitBytes);

  async function* read(key: string, row: FileRow): AsyncIterable<Buffer> {
    for await (const part of sealed.read(key, row)) yield part ?? fail('FILE_GONE', { next: downloadAdvice });
  }

  const readMetadata = (key: string, row: FileRow): FileMetadata => sealed.aboutOf<FileMetadata>(key, row);

  async function findActive(kind: FileRow['kind'], key: string): Promise<FileRow | undefined> {
    const row = await rows.find(hashToken(key));
    return row?.kind === kind && (await isActive(row.userId)) ? row : undefined;
  }

  async function findOwn(userId: number, key: string): Promise<FileRow | undefined> {
    const row = await findActive('upload', key);
    // Only the user who requested the upload may use it, even if other users know its key.
    return row?.userId === userId && row.state === 'ready' ? row : undefined;
  }

  async function load(key: string, row: FileRow): Promise<FormFile> {
    const chunks: Buffer[] = [];
    for await (const chunk of read(key, row)) chunks.push(chunk);
    const { name, mimeType } = readMetadata(key, row);
    return { name, mimeType, content: Buffer.concat(chunks) };
  }

  return {
    async requestUpload(userId, about) {
      const key = await add('upload', userId, about);
      return { key, url: `${endpoint()}/uploads/${key}` };
    },
    async metadataOf(key) {
      return readMetadata(key, (await findActive('upload', key)) ?? fail('FILE_GONE', { next: uploadAdvice }));
    },
    async receive(key, body) {
      const row = (await findActive('upload', key)) ?? fail('FILE_GONE', { next: uploadAdvice });
      // Single use: of several concurrent senders, in any process, one continues.
      if (!(await rows.move(row.id, 'asked', 'arriving'))) fail('FILE_SENT', {});
      try {
        const { bytes, parts, sha256 } = await store(key, body);
        const { sha256: announced } = readMetadata(key, row);
        if (announced !== undefined && !timingSafeEqualText(announced, sha256))
          fail('INVALID_ARGUMENT', {
            argument: 'sha256',
            problem: 'the received file has a different hash. Send it again.',
          });
        if (!(await rows.finish(row.id, { bytes, parts }))) fail('FILE_GONE', { next: uploadAdvice });
        return { bytes };
      } catch (error) {
        await rows.restart(row.id);
        throw error;
      }
    },
    async findUpload(userId, key) {
      const row = await findOwn(userId, key);
      return row && load(key, row);
    },
    async reserveUpload(userId, key) {
      const row = await findOwn(userId, key);
      return row && (await rows.move(row.id, 'ready', 'taken')) ? load(key, row) : undefined;
    },
    async extendUpload(userId, key, until) {
      const row = await findOwn(userId, key);
      if (row && row.expiresAt < until) await rows.keep(row.id, until);
    },
    async deleteUpload(userId, key) {
      const row = await rows.find(hashToken(key));
      if (row?.kind !== 'upload' || row.userId !== userId) return;
      // If a call reserves the upload at the same time, only one of the two succeeds.
      if (await rows.move(row.id, 'ready', 'taken')) await rows.remove(row.id);
    },
    async endReservation(key, used) {
      const id = hashToken(key);
      if (used) await rows.remove(id);
      else await rows.move(id, 'taken', 'ready');
    },
    async createDownload(userId, about, content, seconds) {
      const key = await add('download', userId, about, seconds);
      const id = hashToken(key);
      try {
        const size = await store(key, content);
        await rows.finish(id, size);
        return { url: `${endpoint()}/downloads/${key}`, bytes: size.bytes };
      } catch (error) {
        await rows.remove(id);
        if ((error as { code?: unknown }).code === 'BODY_TOO_LARGE') return undefined;
        throw error;
      }
    },
    async open(key) {
      const row = await findActive('download', key);
      if (row?.state !== 'ready') return fail('FILE_GONE', { next: downloadAdvice });
      return { ...readMetadata(key, row), userId: row.userId, bytes: row.bytes, content: () => read(key, row) };
    },
  };
}
