// Limits the lines of files and functions, and the entries of folders.
import { posix } from 'node:path';
import ts from 'typescript-5.9';
import type { SourceFiles } from './rules.ts';

const FILE_LINES = 400;
const FUNCTION_LINES = 120;
const FOLDER_ENTRIES = 20;

/** Files that may be longer, with the reason. */
const longFiles: Readonly<Record<string, string>> = {
  'src/core/errors.ts': 'a table: one entry for each error code',
  'src/agent/customize/customizer.ts': 'one class, and half of it are docstrings',
  'src/server/agent/create-agent.ts': 'one class, and a third of it are docstrings',
};

/** Functions that may be longer. */
const longFunctions: Readonly<Record<string, string>> = {
  'src/oauth/server/provider.ts: createProvider': 'a table: the options of oidc-provider',
};

/** Violations, one line each. `entries`: all files and folders below src, by their paths. */
export function judgeSizes(files: SourceFiles, entries: readonly string[]): string[] {
  const perFolder = new Map<string, number>();
  for (const path of entries) perFolder.set(posix.dirname(path), (perFolder.get(posix.dirname(path)) ?? 0) + 1);
  return [
    ...[...files].flatMap(([path, text]) => [...judgeFile(path, text), ...judgeFunctions(path, text)]),
    ...[...perFolder]
      .filter(([, count]) => count > FOLDER_ENTRIES)
      .map(([folder, count]) => `${folder}: ${count} entries, at most ${FOLDER_ENTRIES} are allowed`),
  ];
}

function judgeFile(path: string, text: string): string[] {
  const lines = text.trimEnd().split('\n').length;
  const isLong = lines > FILE_LINES;
  if (isLong === path in longFiles) return [];
  return isLong
    ? [`${path}: ${lines} lines, at most ${FILE_LINES} are allowed`]
    : [`${path}: ${lines} lines need no exception`];
}

function judgeFunctions(path: string, text: string): string[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const linesOf = (node: ts.Node): number =>
    file.getLineAndCharacterOfPosition(node.end).line - file.getLineAndCharacterOfPosition(node.getStart()).line + 1;
  /** Returns the lines that belong to functions within the node. */
  const walk = (node: ts.Node): number => {
    let inner = 0;
    ts.forEachChild(node, (child) => {
      inner += walk(child);
    });
    if (!ts.isFunctionLike(node) || !('body' in node) || !node.body || !ts.isBlock(node.body as ts.Node)) return inner;
    const lines = linesOf(node);
    const name = (node.name ?? (node.parent as { name?: ts.Node }).name)?.getText() ?? 'a function';
    if (lines - inner > FUNCTION_LINES && !(`${path}: ${name}` in longFunctions))
      found.push(`${path}: ${lines - inner} lines in ${name}, at most ${FUNCTION_LINES} are allowed`);
    return lines;
  };
  walk(file);
  return found;
}
