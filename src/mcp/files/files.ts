// Files beside the protocol: an assistant asks for an address, sends the file there with PUT, and names it in the values
// of an action; a file that an action gives is fetched from an address of its own. An address holds a key of 256 random
// bits, which is all that opens the file: the storage knows its hash, and what is stored is sealed with it. So any process
// can serve it, and neither a copy of the storage nor a list of rows shows a name or a byte.
//
// An upload is taken once, and used up by the action that ran with it, for the user who asked for it alone. A download
// may be fetched again until it expires, since clients look at links before they follow them. Both live for 15 minutes.
import type { FormFile } from '../../agent/actions/definitions.ts';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import { fail } from '../../core/errors.ts';
import { hashToken, sameText } from '../../core/secret.ts';
import type { FileRow, FileRows } from '../../store/file-types.ts';
import { createSealedFiles } from '../../store/sealed-files.ts';

export const FILE_SECONDS = 900;

export const uploadNext = 'Call requestActionFileUpload for another.';
export const downloadNext = 'Execute the action again.';

interface About {
  readonly name: string;
  readonly mimeType: string;
  /** Base64url; of an upload whose sender announced it. */
  readonly sha256?: string | undefined;
}

export interface Files {
  /** TOO_MANY_FILES. */
  requestUpload(userId: number, about: About): Promise<{ readonly key: string; readonly url: string }>;
  /** FILE_GONE, FILE_SENT, BODY_TOO_LARGE; INVALID_ARGUMENT when it is not what was announced. Then it may be sent again. */
  receive(key: string, body: AsyncIterable<Buffer>): Promise<{ readonly bytes: number }>;
  /** What is announced under the key; FILE_GONE. */
  announced(key: string): Promise<About>;
  /** Undefined for one that is not there, not sent yet, in use, or another user's. */
  findUpload(userId: number, key: string): Promise<FormFile | undefined>;
  /** The same, and from now on nobody else gets it. */
  takeUpload(userId: number, key: string): Promise<FormFile | undefined>;
  /** Of one that was taken: it was used up, or it was not. */
  settleUpload(key: string, used: boolean): Promise<void>;
  /** Undefined when it is larger than the limit; TOO_MANY_FILES. */
  offer(userId: number, about: About, content: AsyncIterable<Buffer>): Promise<Offered | undefined>;
  /** FILE_GONE. */
  open(key: string): Promise<About & { readonly bytes: number; readonly content: () => AsyncIterable<Buffer> }>;
}

export interface Offered {
  readonly url: string;
  readonly bytes: number;
}

export function createFiles(parts: {
  readonly rows: FileRows;
  readonly config: Pick<Config, 'fileLimitBytes'>;
  readonly clock: Pick<Clock, 'now'>;
  /** The address of the MCP endpoint, below which files have theirs. */
  readonly endpoint: () => string;
  /** Whether the user still is one: the files of one who is not are gone. */
  readonly isActive: (userId: number) => Promise<boolean>;
}): Files {
  const { rows, clock, endpoint, isActive } = parts;
  const limitBytes = parts.config.fileLimitBytes;

  const sealed = createSealedFiles(rows, clock);

  const add = (kind: FileRow['kind'], userId: number, about: About): Promise<string> =>
    sealed.add({ kind, userId, about, state: kind === 'upload' ? 'asked' : 'arriving', seconds: FILE_SECONDS });

  const store = (key: string, body: AsyncIterable<Buffer>) => sealed.write(key, body, limitBytes);

  async function* read(key: string, row: FileRow): AsyncIterable<Buffer> {
    for await (const part of sealed.read(key, row)) yield part ?? fail('FILE_GONE', { next: downloadNext });
  }

  const aboutOf = (key: string, row: FileRow): About => sealed.aboutOf<About>(key, row);

  async function findOf(kind: FileRow['kind'], key: string): Promise<FileRow | undefined> {
    const row = await rows.find(hashToken(key));
    return row?.kind === kind && (await isActive(row.userId)) ? row : undefined;
  }

  async function findOwn(userId: number, key: string): Promise<FileRow | undefined> {
    const row = await findOf('upload', key);
    // Whoever asked for the upload, and nobody else, may use it, whoever else has seen its name.
    return row?.userId === userId && row.state === 'ready' ? row : undefined;
  }

  async function load(key: string, row: FileRow): Promise<FormFile> {
    const chunks: Buffer[] = [];
    for await (const chunk of read(key, row)) chunks.push(chunk);
    const { name, mimeType } = aboutOf(key, row);
    return { name, mimeType, content: Buffer.concat(chunks) };
  }

  return {
    async requestUpload(userId, about) {
      const key = await add('upload', userId, about);
      return { key, url: `${endpoint()}/uploads/${key}` };
    },
    async announced(key) {
      return aboutOf(key, (await findOf('upload', key)) ?? fail('FILE_GONE', { next: uploadNext }));
    },
    async receive(key, body) {
      const row = (await findOf('upload', key)) ?? fail('FILE_GONE', { next: uploadNext });
      // Single use: of any number of senders, in any process, one goes on.
      if (!(await rows.move(row.id, 'asked', 'arriving'))) fail('FILE_SENT', {});
      try {
        const { bytes, parts, sha256 } = await store(key, body);
        const { sha256: announced } = aboutOf(key, row);
        if (announced !== undefined && !sameText(announced, sha256))
          fail('INVALID_ARGUMENT', {
            argument: 'sha256',
            problem: 'the file that arrived has another. Send it again.',
          });
        if (!(await rows.finish(row.id, { bytes, parts }))) fail('FILE_GONE', { next: uploadNext });
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
    async takeUpload(userId, key) {
      const row = await findOwn(userId, key);
      return row && (await rows.move(row.id, 'ready', 'taken')) ? load(key, row) : undefined;
    },
    async settleUpload(key, used) {
      const id = hashToken(key);
      if (used) await rows.remove(id);
      else await rows.move(id, 'taken', 'ready');
    },
    async offer(userId, about, content) {
      const key = await add('download', userId, about);
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
      const row = await findOf('download', key);
      if (row?.state !== 'ready') return fail('FILE_GONE', { next: downloadNext });
      return { ...aboutOf(key, row), bytes: row.bytes, content: () => read(key, row) };
    },
  };
}
