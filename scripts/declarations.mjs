// Writes the declarations of the package: of what the compiler wrote, only what the entry points need.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Users need the declarations that the entry points reach. Comments stay in the modules that an entry
 * point exports from.
 */
export function writeDeclarations({ root, outdir, typesdir }) {
  for (const name of readdirSync(outdir, { recursive: true, encoding: 'utf8' }))
    if (!name.startsWith('.types') && name.endsWith('.d.ts')) rmSync(join(outdir, name));
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const entries = Object.values(exports).flatMap(({ types }) => (types ? [types.replace('./dist/', '')] : []));
  // Examples in comments import files that do not exist.
  const read = (name) => (existsSync(join(typesdir, name)) ? readFileSync(join(typesdir, name), 'utf8') : undefined);
  const exported = findExported(entries, read);
  let statements = new Map();
  for (const name of reach(entries, read)) {
    statements.set(
      name,
      exported.has(name) ? [withTwoSpaces(read(name))] : splitStatements(withoutComments(read(name))),
    );
  }
  for (let before = 0; before !== countStatements(statements); ) {
    before = countStatements(statements);
    for (const [name, own] of statements)
      if (!exported.has(name)) statements.set(name, own.flatMap(withoutUnusedImports));
    const used = countNames(statements);
    for (const [name, own] of statements)
      if (!exported.has(name))
        statements.set(
          name,
          own.filter((each) => isUsed(each, used)),
        );
    const reached = reach(entries, (path) => statements.get(path)?.join(''));
    statements = new Map([...statements].filter(([name]) => reached.has(name)));
  }
  for (const [name, own] of statements) {
    mkdirSync(dirname(join(outdir, name)), { recursive: true });
    // Nobody reads the indentation of a module without comments.
    writeFileSync(join(outdir, name), exported.has(name) ? own.join('') : own.join('').replace(/^ +/gm, ''));
  }
}

/** The modules that these import, themselves included. */
function reach(entries, read) {
  const reached = new Set();
  const waiting = [...entries];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const text = reached.has(name) ? undefined : read(name);
    if (text === undefined) continue;
    reached.add(name);
    for (const [, path] of text.matchAll(/(?:\bfrom|\bimport\(?)\s*['"](\.[^'"]+)\.[jt]s['"]/g))
      waiting.push(join(dirname(name), `${path}.d.ts`));
  }
  return reached;
}

/** The modules that entry points export from. */
function findExported(entries, read) {
  const exported = new Set(entries);
  for (const name of exported)
    for (const [, path] of read(name).matchAll(/^export [^;]*? from '(\.[^']+)\.[jt]s'/gm))
      exported.add(join(dirname(name), `${path}.d.ts`));
  return exported;
}

/** A statement begins a line; everything within it is indented, or closes a bracket. */
const splitStatements = (text) => text.split(/^(?=[a-z@])/m);

const countStatements = (statements) => [...statements.values()].reduce((sum, own) => sum + own.length, 0);

const namesIn = (text) => text.match(/[A-Za-z_$][\w$]*/g) ?? [];

/** The name that a statement declares. */
const declared = (statement) =>
  /^(?:export )?(?:declare )?(?:abstract )?(?:const|let|function|class|interface|type|enum|namespace) ([\w$]+)/.exec(
    statement,
  )?.[1];

/** In how many statements each name stands, of those that do not declare it. */
function countNames(statements) {
  const counts = new Map();
  for (const statement of [...statements.values()].flat())
    for (const name of new Set(namesIn(statement)))
      if (name !== declared(statement)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** The names of an import count once for all statements of its module. */
function withoutUnusedImports(statement, _at, own) {
  const found = /^(import (?:type )?)\{([^}]*)\}( from .*;\n)$/s.exec(statement);
  if (!found) return [statement];
  const others = new Set(own.filter((each) => each !== statement && !/^import /.test(each)).flatMap(namesIn));
  const kept = found[2]
    .split(',')
    .map((each) => each.trim())
    .filter((each) => others.has(namesIn(each).at(-1)));
  return kept.length > 0 ? [`${found[1]}{ ${kept.join(', ')} }${found[3]}`] : [];
}

function isUsed(statement, used) {
  const name = declared(statement);
  return name === undefined || used.has(name);
}

/** As in the sources; the compiler writes four. */
function withTwoSpaces(text) {
  return text.replace(/^(?: {4})+/gm, (spaces) => ' '.repeat(spaces.length / 2));
}

function withoutComments(text) {
  return text.replace(/^[ \t]*\/\*\*[\s\S]*?\*\/\n|^\/\/.*\n/gm, '');
}
