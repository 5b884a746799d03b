// Replaces upload handles in form values: `$uploadedFile:<key>` becomes the file before the form is evaluated. The
// form itself parses the other format of a File field, a small file as a `data:` URI.
import { type ErrorCode, fail, isAppError } from '../../core/errors.ts';
import type { Files } from './files.ts';

type Values = Readonly<Record<string, unknown>>;

const handlePattern = /^\$uploadedFile:([\w-]{43})$/;

export const toHandle = (key: string): string => `$uploadedFile:${key}`;

/** The keys of all uploads in the values. */
export function findUploadKeys(values: Values): string[] {
  const texts = Object.values(values).flat();
  return texts.flatMap((text) => (typeof text === 'string' && handlePattern.exec(text)?.[1]) || []);
}

/** For reading a form: the uploads stay available. Throws INVALID_ARGUMENT with the field of an unusable upload. */
export function readUploads(files: Files, userId: number, values: Values): Promise<Values> {
  return replaceUploads(values, (key) => files.findUpload(userId, key));
}

/** After these errors the action may have run. Any other error came before it. */
const executedCodes: ReadonlySet<ErrorCode> = new Set([
  'ACTION_FAILED',
  'ACTION_REFUSED',
  'CANCELLED',
  'TIMED_OUT',
  'INTERNAL',
]);

/**
 * For executing an action: reserves the uploads, and releases them if the action did not run. Otherwise they are used
 * up.
 */
export async function useUploads<T>(
  files: Files,
  userId: number,
  values: Values,
  use: (values: Values) => Promise<T>,
): Promise<T> {
  const reserved = new Map<string, ReturnType<Files['reserveUpload']>>();
  const reserve = (key: string) => {
    // Two fields may use the same upload.
    const found = reserved.get(key) ?? files.reserveUpload(userId, key);
    reserved.set(key, found);
    return found;
  };
  let isUsed = false;
  try {
    const resolved = await replaceUploads(values, reserve);
    isUsed = true;
    return await use(resolved);
  } catch (error) {
    if (isAppError(error) && !executedCodes.has(error.code)) isUsed = false;
    throw error;
  } finally {
    await Promise.all([...reserved].map(async ([key, found]) => (await found) && files.endReservation(key, isUsed)));
  }
}

async function replaceUploads(values: Values, find: (key: string) => ReturnType<Files['findUpload']>): Promise<Values> {
  const replace = async (field: string, value: unknown): Promise<unknown> => {
    const key = typeof value === 'string' ? handlePattern.exec(value)?.[1] : undefined;
    if (key === undefined) return value;
    const problem = 'this upload is missing, already used, expired or not yours. Call requestActionFileUpload.';
    return (await find(key)) ?? fail('INVALID_ARGUMENT', { argument: `values.${field}`, problem });
  };
  const entries: [string, unknown][] = [];
  for (const [field, value] of Object.entries(values)) {
    if (!Array.isArray(value)) entries.push([field, await replace(field, value)]);
    else {
      const items: unknown[] = [];
      for (const item of value as readonly unknown[]) items.push(await replace(field, item));
      entries.push([field, items]);
    }
  }
  return Object.fromEntries(entries);
}
