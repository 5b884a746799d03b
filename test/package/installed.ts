// The package as npm packs and installs it: one tarball, in one empty folder, for all tests of it.
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildOnce } from '../cli/command.ts';

export interface Packed {
  readonly tarball: string;
  readonly bytes: number;
  readonly unpackedBytes: number;
  readonly files: readonly string[];
}

export async function pack(folder: string): Promise<Packed> {
  await buildOnce();
  // `--ignore-scripts`: the build has run.
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const [answer] = JSON.parse(execFileSync('npm', args, { encoding: 'utf8' })) as [
    { filename: string; size: number; unpackedSize: number; files: { path: string }[] },
  ];
  return {
    tarball: join(folder, answer.filename),
    bytes: answer.size,
    unpackedBytes: answer.unpackedSize,
    files: answer.files.map(({ path }) => path),
  };
}

export interface Installed extends Packed {
  /** The folder of the application, with `node_modules`. */
  readonly folder: string;
  readonly seconds: number;
  /** What `du -sk node_modules` says, in megabytes of 1024 KB. */
  readonly megabytes: number;
  remove(): void;
}

/** A user's environment: no settings of the tests, and no compiler is asked for. */
export const environment: NodeJS.ProcessEnv = { PATH: process.env.PATH, HOME: process.env.HOME, CI: 'true' };

export async function install(): Promise<Installed> {
  const place = mkdtempSync(join(tmpdir(), 'portico-package-'));
  const packed = await pack(place);
  const folder = join(place, 'application');
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const began = performance.now();
  const flags = ['--omit=dev', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  await promisify(execFile)('npm', ['install', ...flags, packed.tarball], { cwd: folder, env: installing() });
  const seconds = (performance.now() - began) / 1000;
  const kilobytes = Number(
    execFileSync('du', ['-sk', 'node_modules'], { cwd: folder, encoding: 'utf8' }).split('\t')[0],
  );
  const remove = () => rmSync(place, { recursive: true, force: true });
  return { ...packed, folder, seconds, megabytes: kilobytes / 1024, remove };
}

/** npm needs its own settings, such as the registry, which a run by `npm test` has in its environment. */
const installing = (): NodeJS.ProcessEnv => ({
  ...environment,
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => /^(npm_config_|https?_proxy$|no_proxy$)/i.test(name)),
  ),
});
