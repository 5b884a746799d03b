// Files among the values of a form: the name of an upload, `$uploadedFile:<key>`, becomes the file before the form is
// looked at. What else a File field takes, a small file as a `data:` URI, is the form's own matter.
import { type ErrorCode, fail, isAppError } from '../../core/errors.ts';
import type { Files } from './files.ts';

type Values = Readonly<Record<string, unknown>>;

const handle = /^\$uploadedFile:([\w-]{43})$/;

export const handleOf = (key: string): string => `$uploadedFile:${key}`;

/** For looking at the form: the uploads stay as they are. INVALID_ARGUMENT names the field of one that cannot be used. */
export function showUploads(files: Files, userId: number, values: Values): Promise<Values> {
  return replaceUploads(values, (key) => files.findUpload(userId, key));
}

/** These come from the code of the action, or leave open whether it ran. Any other error came before it. */
const ran: ReadonlySet<ErrorCode> = new Set(['ACTION_FAILED', 'ACTION_REFUSED', 'CANCELLED', 'TIMED_OUT', 'INTERNAL']);

/** For executing: nobody else gets the uploads meanwhile, and they are used up unless the action did not run. */
export async function useUploads<T>(
  files: Files,
  userId: number,
  values: Values,
  use: (values: Values) => Promise<T>,
): Promise<T> {
  const taken = new Map<string, ReturnType<Files['takeUpload']>>();
  const take = (key: string) => {
    // One upload may stand in two fields.
    const found = taken.get(key) ?? files.takeUpload(userId, key);
    taken.set(key, found);
    return found;
  };
  let isUsed = false;
  try {
    const ready = await replaceUploads(values, take);
    isUsed = true;
    return await use(ready);
  } catch (error) {
    if (isAppError(error) && !ran.has(error.code)) isUsed = false;
    throw error;
  } finally {
    await Promise.all([...taken].map(async ([key, found]) => (await found) && files.settleUpload(key, isUsed)));
  }
}

async function replaceUploads(values: Values, find: (key: string) => ReturnType<Files['findUpload']>): Promise<Values> {
  const replace = async (field: string, value: unknown): Promise<unknown> => {
    const key = typeof value === 'string' ? handle.exec(value)?.[1] : undefined;
    if (key === undefined) return value;
    const problem = 'this upload was not sent, is used up, expired or not yours. Call requestActionFileUpload.';
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
