// The entry points of package.json as source files, for code that imports the package by its name.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
};

/** The source file of each entry point, by its name in imports. */
export const sourceOf: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(exports).flatMap(([name, target]) =>
    typeof target === 'string'
      ? []
      : [[name.replace('.', 'portico'), resolve(target.default.replace('./dist/', 'src/').replace(/js$/, 'ts'))]],
  ),
);

/** The code, with the entry points of the package taken from src/. */
export const importFromSource = (code: string): string =>
  code.replace(/from '(portico(?:\/\w+)?)'/g, (_, name: string) => `from '${sourceOf[name]}'`);
