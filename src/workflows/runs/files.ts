// Files that people provide for actions of runs. Each file is stored encrypted until the action has run
// (store/files/sealed-files.ts). The values of the run, also encrypted, contain its key instead. A key works only for
// its run. Only one executor holds a run at a time, so file removal needs no locks. Files are removed after the action,
// or when the run ends without it.
import type { FormFile } from '../../agent/actions/definitions.ts';
import { isFormFile } from '../../agent/actions/form-file.ts';
import type { Clock } from '../../core/clock.ts';
import { hashToken } from '../../core/secret.ts';
import { createSealedFiles } from '../../store/files/sealed-files.ts';
import type { FileRows } from '../../store/files/types.ts';

type Values = Readonly<Record<string, unknown>>;

/** The reference that replaces a file among the values. */
interface StoredFile {
  readonly $fileOfRun: string;
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: number;
}

interface FileOwner {
  readonly runId: string;
  readonly userId: number;
  /** Maximum lifetime of the files. */
  readonly seconds: number;
}

export interface RunFiles {
  /**
   * Stores the files and returns the values with references. Throws BODY_TOO_LARGE or TOO_MANY_FILES, and then stores
   * no file.
   */
  save(owner: FileOwner, values: Values, limitBytes: number): Promise<Values>;
  /**
   * Returns the values with their files. `gone`: names of values with a file that has expired or belongs to another
   * run. These values are omitted.
   */
  open(runId: string, values: Values): Promise<{ readonly values: Values; readonly expired: readonly string[] }>;
  /** Removes the run's files found anywhere in `held`. A file that could not be removed expires later. */
  remove(runId: string, data: unknown): Promise<void>;
}

export function createRunFiles(rows: FileRows, clock: Pick<Clock, 'now'>): RunFiles {
  const sealed = createSealedFiles(rows, clock);

  const saveOne = async (
    owner: FileOwner,
    { name, mimeType, content }: FormFile,
    limitBytes: number,
  ): Promise<StoredFile> => {
    const { runId, userId, seconds } = owner;
    const about = { name, mimeType, runId };
    const key = await sealed.add({ kind: 'run', userId, state: 'arriving', about, seconds });
    const stored = { $fileOfRun: key, name, mimeType, bytes: content.length };
    try {
      const { bytes, parts } = await sealed.write(key, singleChunk(content), limitBytes);
      await rows.finish(hashToken(key), { bytes, parts });
    } catch (error) {
      await removeOne(stored);
      throw error;
    }
    return stored;
  };
  const removeOne = ({ $fileOfRun }: StoredFile) => rows.remove(hashToken($fileOfRun));

  const findOne = async (runId: string, { $fileOfRun: key }: StoredFile) => {
    const row = await rows.find(hashToken(key));
    if (row?.kind !== 'run') return undefined;
    const about = sealed.aboutOf<Omit<FormFile, 'content'> & { runId: string }>(key, row);
    // The key of another run's file does not open it (CWE-639).
    return about.runId === runId ? { row, about } : undefined;
  };

  const openOne = async (runId: string, stored: StoredFile): Promise<FormFile | undefined> => {
    const found = await findOne(runId, stored);
    if (found?.row.state !== 'ready') return undefined;
    const { name, mimeType } = found.about;
    const parts: Buffer[] = [];
    for await (const part of sealed.read(stored.$fileOfRun, found.row)) {
      if (part === undefined) return undefined;
      parts.push(part);
    }
    return { name, mimeType, content: Buffer.concat(parts) };
  };

  return {
    async save(owner, values, limitBytes) {
      const saved: StoredFile[] = [];
      try {
        return await replaceEach(values, isFormFile, async (file) => {
          const stored = await saveOne(owner, file, limitBytes);
          saved.push(stored);
          return stored;
        });
      } catch (error) {
        for (const each of saved) await removeOne(each);
        throw error;
      }
    },
    async open(runId, values) {
      const expired: string[] = [];
      const opened = await replaceEach(values, isStoredFile, async (stored, name) => {
        const file = await openOne(runId, stored);
        if (!file) expired.push(name);
        return file;
      });
      const available = Object.entries(opened).filter(([name]) => !expired.includes(name));
      return { values: Object.fromEntries(available), expired };
    },
    async remove(runId, data) {
      for (const stored of findStoredFiles(data)) {
        const found = await findOne(runId, stored).catch(() => undefined);
        if (found) await removeOne(stored).catch(() => undefined);
      }
    },
  };
}

async function* singleChunk(content: Buffer): AsyncIterable<Buffer> {
  yield content;
}

function isStoredFile(value: unknown): value is StoredFile {
  const key = (value as Partial<StoredFile> | null | undefined)?.$fileOfRun;
  return typeof key === 'string' && /^[\w-]{43}$/.test(key);
}

function findStoredFiles(data: unknown): readonly StoredFile[] {
  if (isStoredFile(data)) return [data];
  return typeof data === 'object' && data !== null ? Object.values(data).flatMap(findStoredFiles) : [];
}

/** Replaces matching values, also in lists. Sequential, since each may be large. */
async function replaceEach<T>(
  values: Values,
  matches: (value: unknown) => value is T,
  replace: (value: T, name: string) => Promise<unknown>,
): Promise<Values> {
  const entries: [string, unknown][] = [];
  for (const [name, value] of Object.entries(values)) {
    if (!Array.isArray(value)) {
      entries.push([name, matches(value) ? await replace(value, name) : value]);
      continue;
    }
    const items: unknown[] = [];
    for (const item of value as readonly unknown[]) items.push(matches(item) ? await replace(item, name) : item);
    entries.push([name, items]);
  }
  return Object.fromEntries(entries);
}
