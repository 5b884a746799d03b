// Files as values of forms: detects them, and describes them for users.
import type { FormFile } from './definitions.ts';

export function isFormFile(value: unknown): value is FormFile {
  const { name, mimeType, content } = (value ?? {}) as Partial<FormFile>;
  return typeof name === 'string' && typeof mimeType === 'string' && Buffer.isBuffer(content);
}

/** The files of a value that is a file or a list of files; otherwise empty. */
export function filesOf(value: unknown): readonly FormFile[] {
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  return all.every(isFormFile) ? all : [];
}

/** Such as `bill.pdf (application/pdf, 1024 bytes)`. */
export const formatFile = ({ name, mimeType, content }: FormFile): string =>
  `${name} (${mimeType}, ${content.length} bytes)`;
