// Reads the exports of the package, with signatures and docstrings, from the sources. The API of TypeScript
// 7 gives access to the checker without a build. The API is marked unstable, so the version is pinned.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Node } from 'typescript/unstable/ast';
import {
  isClassDeclaration,
  isConstructorDeclaration,
  isFunctionDeclaration,
  isGetAccessorDeclaration,
  isInterfaceDeclaration,
  isMethodDeclaration,
  isPropertyDeclaration,
  isTypeAliasDeclaration,
} from 'typescript/unstable/ast/is';
import { API, type Project, SymbolFlags } from 'typescript/unstable/sync';

export type ExportKind = 'function' | 'class' | 'interface' | 'type' | 'value';

export interface Exported {
  readonly name: string;
  readonly kind: ExportKind;
  /** The docstring, or ''. */
  readonly doc: string;
  /** TypeScript, without bodies; for a class, only its head. */
  readonly code: string;
  /** The public members of a class. */
  readonly members: readonly Member[];
}

export interface Member {
  readonly name: string;
  readonly doc: string;
  readonly code: string;
}

export interface EntryPoint {
  /** The name in imports, such as `portico/plugins`. */
  readonly name: string;
  readonly exports: readonly Exported[];
}

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, string | { readonly types?: string }>>;
}

/** Every entry point in package.json, in order. */
export function readEntryPoints(root: string): EntryPoint[] {
  const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
  const api = new API({ cwd: root });
  try {
    const project = api.updateSnapshot({ openProjects: [join(root, 'tsconfig.json')] }).getProjects()[0]!;
    return Object.entries(exports).flatMap(([path, target]) => {
      if (typeof target === 'string' || !target.types) return [];
      const source = target.types.replace(/^\.\/dist\//, 'src/').replace(/\.d\.ts$/, '.ts');
      return [{ name: name + path.slice(1), exports: readExports(project, join(root, source)) }];
    });
  } finally {
    api.close();
  }
}

function readExports({ program, checker }: Project, path: string): Exported[] {
  const file = program.getSourceFile(path);
  const module = file && checker.getSymbolAtLocation(file);
  if (!module) throw new Error(`${path} is no module of the project`);
  return checker
    .getExportsOfModule(module)
    .map((symbol): Exported => {
      const meant = symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      const nodes = meant.declarations.flatMap((handle) => handle.resolve() ?? []);
      const [node] = nodes;
      if (!node) throw new Error(`${symbol.name} of ${path} has no declaration`);
      const doc = checker.getDocumentationCommentOfSymbol(meant).trim();
      const { name } = symbol;
      if (isClassDeclaration(node)) {
        const members = withoutOverloaded([...node.members].filter(isShown)).map(readMember);
        return { name, kind: 'class', doc, code: printHead(node), members };
      }
      if (isInterfaceDeclaration(node) || isTypeAliasDeclaration(node)) {
        const kind = isInterfaceDeclaration(node) ? 'interface' : 'type';
        return { name, kind, doc, code: foldComments(plain(node.getText())), members: [] };
      }
      if (isFunctionDeclaration(node)) {
        // If there are overloads, omits the signature of the implementation.
        const shown = nodes.length > 1 ? nodes.filter((one) => isFunctionDeclaration(one) && !one.body) : nodes;
        const code = shown.map((one) => printSignature(one)).join('\n');
        return { name, kind: 'function', doc, code, members: [] };
      }
      const type = checker.getTypeOfSymbol(meant);
      const code = `const ${name}: ${type ? checker.typeToString(type) : 'unknown'};`;
      return { name, kind: 'value', doc, code, members: [] };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

const plain = (text: string): string => text.replace(/^export (declare )?/, '').trim();

/** The text up to the body, with a semicolon. */
function printSignature(node: Node): string {
  const { body } = node as Node & { readonly body?: Node };
  const text = node.getText();
  const head = body ? text.slice(0, body.getStart() - node.getStart()) : text;
  return `${plain(head).replace(/;$/, '')};`;
}

/** The text without the members. */
function printHead(node: Node & { readonly members: Iterable<Node> }): string {
  const [first] = node.members;
  const text = node.getText();
  const head = first ? text.slice(0, first.getFullStart() - node.getStart()) : text;
  return plain(head).replace(/[{}\s]+$/, '');
}

function isShown(member: Node): boolean {
  if (!(isMethodDeclaration(member) || isPropertyDeclaration(member) || isGetAccessorDeclaration(member))) {
    return isConstructorDeclaration(member) && !/@internal\b|\bprivate\b/.test(member.getFullText());
  }
  return !/^((static|readonly|override|async)\s+)*(private\b|protected\b|#)/.test(member.getText());
}

/** Omits the implementation of methods with overloads. */
function withoutOverloaded(members: readonly Node[]): Node[] {
  const bodyOf = (member: Node) => (member as Node & { readonly body?: Node }).body;
  const nameOf = (member: Node) => (member as Node & { readonly name?: Node }).name?.getText();
  const overloaded = members.filter((one) => isMethodDeclaration(one) && !bodyOf(one)).map(nameOf);
  return members.filter((one) => !bodyOf(one) || !overloaded.includes(nameOf(one)));
}

function readMember(member: Node): Member {
  const { body, initializer } = member as Node & { readonly body?: Node; readonly initializer?: Node };
  const before = member.getFullText().slice(0, member.getStart() - member.getFullStart());
  const [, comment = ''] = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(before) ?? [];
  const text = member.getText();
  const end = body ?? initializer;
  const head = end ? text.slice(0, end.getStart() - member.getStart()) : text;
  const code = `${head
    .trim()
    .replace(/(=|;)$/, '')
    .replace(/^async /, '')
    .trim()};`;
  const name = /(?:^|\s)(?:get |set )?([\w$]+)\s*[(<:?;]/.exec(code)?.[1] ?? code;
  return { name, doc: wordsOf(comment), code };
}

/** The text of a comment, without the leading asterisks. */
const wordsOf = (comment: string): string => comment.replace(/^\s*\* ?/gm, '').trim();

const widest = 92;

/** Wraps comments to the width of a page. */
function foldComments(code: string): string {
  return code.replace(/^([ \t]*)\/\*\*([\s\S]*?)\*\//gm, (_, margin: string, comment: string) => {
    const lines = [''];
    for (const word of wordsOf(comment).split(/\s+/)) {
      const line = lines.at(-1)!;
      if (line === '') lines[lines.length - 1] = word;
      else if (margin.length + line.length + word.length + 4 <= widest) lines[lines.length - 1] = `${line} ${word}`;
      else lines.push(word);
    }
    if (lines.length === 1 && margin.length + lines[0]!.length + 7 <= widest) return `${margin}/** ${lines[0]} */`;
    return [`${margin}/**`, ...lines.map((line) => `${margin} * ${line}`), `${margin} */`].join('\n');
  });
}
