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
  isMappedTypeNode,
  isMethodDeclaration,
  isMethodSignatureDeclaration,
  isPropertyDeclaration,
  isPropertySignatureDeclaration,
  isTypeAliasDeclaration,
  isTypeLiteralNode,
  isTypeReferenceNode,
  isUnionTypeNode,
} from 'typescript/unstable/ast/is';
import { API, type Checker, type Symbol as NamedSymbol, type Project, SymbolFlags } from 'typescript/unstable/sync';

export type ExportKind = 'function' | 'class' | 'interface' | 'type' | 'value';

export interface Exported {
  readonly name: string;
  readonly kind: ExportKind;
  /** The docstring without its tags, or ''. */
  readonly doc: string;
  /** The code of `@example`, or ''. */
  readonly example: string;
  /** The text of `@deprecated` of an alias, or ''. */
  readonly deprecated: string;
  /** TypeScript, without bodies; for a class, and for an interface with examples, only its head. */
  readonly code: string;
  /** The public members of a class, an interface or a type of an object, with those of its bases. */
  readonly members: readonly Member[];
}

export interface Member {
  readonly name: string;
  readonly kind: 'method' | 'property' | 'constructor';
  readonly isOptional: boolean;
  readonly doc: string;
  readonly example: string;
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
  const describe = (symbol: NamedSymbol): Exported => {
    const meant = symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    const nodes = meant.declarations.flatMap((handle) => handle.resolve() ?? []);
    const [node] = nodes;
    if (!node) throw new Error(`${symbol.name} of ${path} has no declaration`);
    const doc = checker.getDocumentationCommentOfSymbol(meant).trim();
    const example = readTag(checker, meant, 'example');
    const members = readMembers(checker, meant, node);
    const said = { name: symbol.name, doc, example, deprecated: readDeprecation(symbol), members };
    if (isClassDeclaration(node)) return { ...said, kind: 'class', code: printHead(node) };
    if (isInterfaceDeclaration(node)) {
      const isLong = members.some((member) => member.example !== '');
      return { ...said, kind: 'interface', code: isLong ? printHead(node) : foldComments(plain(node.getText())) };
    }
    if (isTypeAliasDeclaration(node)) return { ...said, kind: 'type', code: foldComments(plain(node.getText())) };
    if (isFunctionDeclaration(node)) {
      // If there are overloads, omits the signature of the implementation.
      const shown = nodes.length > 1 ? nodes.filter((one) => isFunctionDeclaration(one) && !one.body) : nodes;
      return { ...said, kind: 'function', code: shown.map((one) => printSignature(one)).join('\n') };
    }
    const type = checker.getTypeOfSymbol(meant);
    return { ...said, kind: 'value', code: `const ${symbol.name}: ${type ? checker.typeToString(type) : 'unknown'};` };
  };
  return checker
    .getExportsOfModule(module)
    .map(describe)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function readTag(checker: Checker, symbol: NamedSymbol, tag: string): string {
  return (checker.getJsDocTagsOfSymbol(symbol).find(({ name }) => name === tag)?.text ?? '').trim();
}

/** `getJsDocTagsOfSymbol` gives the tags of the original, not those of the alias. */
function readDeprecation(symbol: NamedSymbol): string {
  const text = symbol.declarations[0]?.resolve()?.getFullText() ?? '';
  return /^\s*\/\*\* @deprecated (.*?) \*\//.exec(text)?.[1] ?? '';
}

/** Other unions are read as a whole: their members differ. */
const isUnionOfNames = (type: Node): boolean => isUnionTypeNode(type) && [...type.types].every(isTypeReferenceNode);

function readMembers(checker: Checker, symbol: NamedSymbol, node: Node): Member[] {
  const isObject = isTypeAliasDeclaration(node)
    ? isTypeLiteralNode(node.type) || isMappedTypeNode(node.type) || isUnionOfNames(node.type)
    : isClassDeclaration(node) || isInterfaceDeclaration(node);
  if (!isObject) return [];
  const constructors = isClassDeclaration(node) ? [...node.members].filter(isConstructorDeclaration) : [];
  const declared = checker
    .getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol))
    .flatMap((property) =>
      property.declarations
        .filter(({ path }) => !path.includes('/node_modules/'))
        .flatMap((handle) => handle.resolve() ?? []),
    );
  return withoutOverloaded([...constructors, ...declared].filter(isShown)).map(readMember);
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
  if (/@internal\b/.test(readComment(member))) return false;
  if (isConstructorDeclaration(member)) return !/\bprivate\b/.test(member.getText());
  const isMember =
    isMethodDeclaration(member) ||
    isMethodSignatureDeclaration(member) ||
    isPropertyDeclaration(member) ||
    isPropertySignatureDeclaration(member) ||
    isGetAccessorDeclaration(member);
  return isMember && !/^((static|readonly|override|async)\s+)*(private\b|protected\b|#)/.test(member.getText());
}

/** Omits the implementation of methods with overloads. */
function withoutOverloaded(members: readonly Node[]): Node[] {
  const bodyOf = (member: Node) => (member as Node & { readonly body?: Node }).body;
  const nameOf = (member: Node) => (member as Node & { readonly name?: Node }).name?.getText();
  const overloaded = members.filter((one) => isMethodDeclaration(one) && !bodyOf(one)).map(nameOf);
  return members.filter((one) => !bodyOf(one) || !overloaded.includes(nameOf(one)));
}

/** The docstring before the member. */
function readComment(member: Node): string {
  const before = member.getFullText().slice(0, member.getStart() - member.getFullStart());
  return /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(before)?.[1] ?? '';
}

function readMember(member: Node): Member {
  const { body, initializer } = member as Node & { readonly body?: Node; readonly initializer?: Node };
  const [doc = '', example = ''] = wordsOf(readComment(member)).split(/^@example\b[ \n]*/m);
  const text = member.getText();
  const end = body ?? initializer;
  const head = end ? text.slice(0, end.getStart() - member.getStart()) : text;
  const code = `${head
    .trim()
    .replace(/(=|;)$/, '')
    .replace(/^async /, '')
    .trim()};`;
  const name = /(?:^|\s)(?:get |set )?([\w$]+)\s*[(<:?;]/.exec(code)?.[1] ?? code;
  const isMethod = isMethodDeclaration(member) || isMethodSignatureDeclaration(member);
  const kind = isConstructorDeclaration(member) ? 'constructor' : isMethod ? 'method' : 'property';
  return {
    name,
    kind,
    isOptional: /^(?:readonly )?[\w$]+\?/.test(code),
    doc: doc.trim(),
    example: example.trim(),
    code,
  };
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
