// Runs the mutations of the ledger in a child process, because they start a Vitest of their own.
import { execFile } from 'node:child_process';

/** The output of mutate.ts, also if it fails. */
export function runMutations(args: readonly string[] = []): Promise<string> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('VITEST')));
  const options = { env: { ...env, NODE_ENV: 'test' }, maxBuffer: 10 ** 7 };
  return new Promise((resolve) => {
    execFile('node_modules/.bin/tsx', ['test/spec/ledger/mutate.ts', ...args], options, (error, stdout, stderr) =>
      resolve(error && !stdout.trim() ? `${error.message}\n${stderr}` : stdout.trim()),
    );
  });
}
