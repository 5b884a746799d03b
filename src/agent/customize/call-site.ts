import { fileURLToPath } from 'node:url';

/**
 * The position of the user's call to `entry`, as `file:line`, for errors at the start. `entry` is the public function
 * itself, so the functions it calls can change freely.
 */
export function callSite(entry: (...parameters: never[]) => unknown): string {
  const holder: { stack?: string } = {};
  Error.captureStackTrace(holder, entry);
  const line = holder.stack?.split('\n')[1] ?? '';
  const [, file, row] =
    /\(?((?:file:\/\/|\/|[A-Za-z]:\\)[^()]*?):(\d+)(?::\d+)?\)?$/.exec(
      line.trim().replace(/^at /, '').replace(/^.*\(/, '('),
    ) ?? [];
  if (!file) return 'an unknown place';
  return `${file.startsWith('file://') ? fileURLToPath(file) : file}:${row}`;
}
