// Finds exports that no other file imports, because a reader takes every export for an interface between files.
import { posix } from 'node:path';
import type { SourceFiles } from './rules.ts';
import { readSource, type SourceText } from './source-text.ts';

const declaration =
  /\bexport\s+(?:declare\s+)?(?:async\s+)?(?:abstract\s+)?(?:function\b\s*\*?|const|let|class|interface|type|enum)\s*([\w$]+)/g;
const namedImport = /\b(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s*from\s*"(\d+)"/g;
/** Imports without a list of names. The names may be anywhere in the file. */
const wholeImport = /\bimport\s+(?:type\s+)?\*\s*as\s+[\w$]+\s+from\s*"(\d+)"|\bimport\s*\(\s*"(\d+)"\s*\)/g;

/** `file: name` for each export of src that no other of the files imports. */
export function findUnusedExports(files: SourceFiles): string[] {
  const sources = new Map([...files].map(([path, text]) => [path, readSource(text)]));
  const imported = new Set([...sources].flatMap(([path, source]) => namesImportedBy(path, source)));
  return [...sources]
    .filter(([path]) => path.startsWith('src/'))
    .flatMap(([path, { code }]) => [...code.matchAll(declaration)].map(([, name]) => `${path}: ${name}`))
    .filter((name) => !imported.has(name))
    .sort();
}

/** `file: name` for each name that the file imports from another. */
function namesImportedBy(path: string, { code, texts }: SourceText): string[] {
  const target = (text: string) => posix.join(posix.dirname(path), texts[Number(text)]!);
  const named = [...code.matchAll(namedImport)].flatMap(([, names, from]) =>
    names!.split(',').map(
      (name) =>
        `${target(from!)}: ${
          name
            .trim()
            .split(/\s+/)
            .filter((word) => word !== 'type')[0]
        }`,
    ),
  );
  // Also `commands[name]`, with the names as strings.
  const words = new Set([...(code.match(/[\w$]+/g) ?? []), ...texts]);
  const whole = [...code.matchAll(wholeImport)].flatMap(([, namespace, dynamic]) =>
    [...words].map((word) => `${target(namespace ?? dynamic!)}: ${word}`),
  );
  return [...named, ...whole];
}
