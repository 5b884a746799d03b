// Finds names that a source uses and does not declare. A replaced text with such a name throws an error, so its attack
// does not test the protection.
import ts from 'typescript-6.0';
import { compile } from './root.ts';

/** Diagnostics of TypeScript for a name that is not declared. */
const unknownName: ReadonlySet<number> = new Set([2304, 2552, 18004]);
const options = { noResolve: true, noLib: true, noEmit: true, allowImportingTsExtensions: true };

/** `uncompiled`: the source with its types. Types have no names at run time. */
export function findUnknownNames(uncompiled: string): ReadonlySet<string> {
  const text = compile(uncompiled);
  const file = 'source.ts';
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023);
  const program = ts.createProgram([file], options, {
    getSourceFile: (name) => (name === file ? source : undefined),
    getDefaultLibFileName: () => 'lib.d.ts',
    writeFile: () => undefined,
    getCurrentDirectory: () => '/',
    getCanonicalFileName: (name) => name,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => '\n',
    fileExists: (name) => name === file,
    readFile: () => undefined,
  });
  const found = program.getSemanticDiagnostics(source).filter(({ code }) => unknownName.has(code));
  return new Set(found.map(({ start = 0, length = 0 }) => text.slice(start, start + length)));
}
