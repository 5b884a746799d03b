import { fileURLToPath } from 'node:url';

/**
 * Where the user's code called `entry`: `file:line`, for the errors of the start. `entry` is the public function itself,
 * so that what it calls can be rearranged freely.
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
