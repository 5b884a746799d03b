// A copy of the built package with some texts of src/ replaced. All other files are links.
import {
  cpSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { root } from '../cli/command.ts';
import type { Mutation } from '../spec/ledger/runner.ts';

export interface Root {
  readonly path: string;
  remove(): void;
}

export function switchOff(mutations: readonly Mutation[]): Root {
  const path = mkdtempSync(join(tmpdir(), 'portico-switched-off-'));
  linkTree(join(root, 'dist'), join(path, 'dist'));
  symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'), 'dir');
  cpSync(join(root, 'package.json'), join(path, 'package.json'));
  for (const file of new Set(mutations.map(({ file }) => file))) {
    const target = join(path, file.replace(/^src\//, 'dist/').replace(/\.ts$/, '.js'));
    // Writing to the link would change the original.
    rmSync(target);
    writeFileSync(target, compile(replaced(file, mutations)));
  }
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

/** Compiles as the build does: strips types and renames imports to the built files. */
export const compile = (source: string): string =>
  transformSync(source, options).code.replace(/((?:from|import|import\(|URL\()\s*["']\.[^"']*)\.ts(["'])/g, '$1.js$2');

function linkTree(from: string, to: string): void {
  mkdirSync(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkTree(source, target);
    else if (/\.(?:js|html|json)$/.test(entry.name)) linkSync(source, target);
  }
}
