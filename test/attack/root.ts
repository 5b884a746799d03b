// A copy of the built package, bundled from src/ with some texts replaced.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { transformSync } from 'esbuild';
import { bundle, listPages } from '../../scripts/bundle.mjs';
import { root } from '../cli/command.ts';
import type { Mutation } from '../spec/ledger/runner.ts';

export interface Root {
  readonly path: string;
  remove(): void;
}

export async function switchOff(mutations: readonly Mutation[]): Promise<Root> {
  const path = mkdtempSync(join(tmpdir(), 'portico-switched-off-'));
  const outdir = join(path, 'dist');
  const files = new Set(mutations.map(({ file }) => file));
  await bundle({ root, outdir, replaced: new Map([...files].map((file) => [file, replaced(file, mutations)])) });
  for (const page of listPages(root)) {
    mkdirSync(dirname(join(outdir, page)), { recursive: true });
    cpSync(join(root, 'src', page), join(outdir, page));
  }
  symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'), 'dir');
  cpSync(join(root, 'package.json'), join(path, 'package.json'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

function replaced(file: string, mutations: readonly Mutation[]): string {
  let source = readFileSync(join(root, file), 'utf8');
  for (const { text, into } of mutations.filter((one) => one.file === file)) {
    if (source.split(text).length !== 2) throw new Error(`not exactly once in ${file}: ${text}`);
    source = source.replace(text, () => into);
  }
  return source;
}

const options = {
  loader: 'ts',
  target: 'es2023',
  tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
} as const;

/** Strips the types, as the build does. */
export const compile = (source: string): string => transformSync(source, options).code;
