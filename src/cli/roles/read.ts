// Reads the roles file. It converts YAML to the rights that the storage keeps, or returns all problems at once, each
// with line and column. An unknown key is a problem: ignoring a misspelled right would leave its author with a false
// belief about who has access.
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from 'yaml';
import { findPolicyProblem, type Verb, verbs } from '../../core/caller.ts';
import { isExact } from '../../core/filter/exact-numbers.ts';
import { suggestNames } from '../../core/suggestions.ts';
import { findFilterProblems } from '../../store/permissions/filters.ts';
import { readNetwork } from '../../store/permissions/networks.ts';
import { findVariableProblems } from '../../store/permissions/scopes.ts';
import type { CollectionPermission, Right } from '../../store/permissions/types.ts';

interface Problem {
  /** Line and column start at 1. */
  readonly line: number;
  readonly column: number;
  /** The path in the file, such as `roles.Clerk.Production.orders`. Empty at the root. */
  readonly at: string;
  readonly problem: string;
}

export interface RightAtLine extends Right {
  readonly line: number;
}

type RolesFile =
  | { readonly rights: readonly RightAtLine[]; readonly problems?: undefined }
  | { readonly problems: readonly Problem[] };

const sections = ['organization', 'project', 'environments', 'allowList', 'teams', 'roles'] as const;
const permissionKeys = ['may', 'fields', 'approval', 'actions', 'cascades'] as const;
const writeVerbs: readonly Verb[] = ['add', 'edit', 'delete'];

/** A value of the file with its path. */
interface NodePosition {
  readonly node: Node | null | undefined;
  readonly path: readonly string[];
}

interface Entry extends NodePosition {
  readonly key: string;
  readonly keyNode: Node;
}

export function readRolesFile(text: string): RolesFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const problems: Problem[] = [];
  const offsetOf = (node: Node | null | undefined): number => node?.range?.[0] ?? 0;
  const addProblemAt = (offset: number, path: readonly string[], problem: string): void => {
    const { line, col } = lines.linePos(offset);
    problems.push({ line, column: col, at: path.join('.').replaceAll('.[', '['), problem });
  };
  for (const { pos, message } of [...document.errors, ...document.warnings]) addProblemAt(pos[0], [], message);
  if (problems.length > 0) return { problems };

  const rights: RightAtLine[] = [];
  const addProblem = ({ node, path }: NodePosition, problem: string) => addProblemAt(offsetOf(node), path, problem);
  const add = (node: Node | null | undefined, right: Right) =>
    rights.push({ ...right, line: lines.linePos(offsetOf(node)).line });
  visit(document, {
    Scalar(_key, { value, source, range }) {
      if (typeof value !== 'number' || source === undefined || isExact(source)) return;
      addProblemAt(
        range?.[0] ?? 0,
        [],
        `the number ${source} cannot be represented exactly. Write its digits in quotes: "${source}".`,
      );
    },
  });
  const reading = { document, addProblem, add };
  findLostAliases(reading);
  if (problems.length === 0) readAll(reading);
  if (problems.length > 0) return { problems: problems.sort((a, b) => a.line - b.line || a.column - b.column) };
  return { rights };
}

interface Reading {
  readonly document: Document;
  addProblem(position: NodePosition, problem: string): void;
  /** `node` determines the line of the right. */
  add(node: Node | null | undefined, right: Right): void;
}

function readAll(reading: Reading): void {
  const { document, addProblem, add } = reading;
  const root: NodePosition = { node: document.contents, path: [] };
  const entries = mapOf(reading, root, 'a file with roles', sections);
  const find = (key: (typeof sections)[number]) => entries.find((entry) => entry.key === key);
  for (const kind of ['organization', 'project'] as const) {
    const entry = find(kind);
    if (!entry) addProblem(root, `'${kind}' is missing: its name.`);
    const value = entry && nameOf(reading, entry);
    if (value !== undefined) add(entry?.keyNode, { kind, path: [], value });
  }
  const environments = readEnvironments(reading, find('environments') ?? { ...root, path: ['environments'] });
  readNetworks(reading, find('allowList'));
  for (const team of named(reading, find('teams'), 'team')) {
    for (const view of environmentsOf(reading, team, environments)) {
      for (const scope of mapOf(reading, view, 'collections')) {
        if (!isName(reading, scope)) continue;
        const value = filterOf(reading, scope);
        add(scope.keyNode, { kind: 'scope', path: [team.key, view.key, scope.key], value });
      }
    }
  }
  for (const role of named(reading, find('roles'), 'role')) {
    for (const environment of environmentsOf(reading, role, environments)) {
      for (const collection of mapOf(reading, environment, 'collections')) {
        if (!isName(reading, collection)) continue;
        const value = permissionOf(reading, collection);
        add(collection.keyNode, { kind: 'permission', path: [role.key, environment.key, collection.key], value });
      }
    }
  }
}

function resolve({ document }: Reading, node: Node | null | undefined): Node | null | undefined {
  return isAlias(node) ? node.resolve(document) : node;
}

/** An unresolved alias would look like an empty value. */
function findLostAliases({ document, addProblem }: Reading): void {
  visit(document, {
    Alias(_, alias) {
      if (!alias.resolve(document))
        addProblem({ node: alias, path: [] }, `there is no anchor '&${alias.source}' above.`);
    },
  });
}

/** Returns an empty list for an empty value. `known`: the allowed keys. */
function mapOf(
  reading: Reading,
  position: NodePosition,
  what: string,
  knownKeys?: readonly string[],
): readonly Entry[] {
  const node = resolve(reading, position.node);
  if (node === null || node === undefined || (isScalar(node) && node.value === null)) return [];
  if (!isMap(node)) {
    reading.addProblem(position, `expected ${what}, as 'name:' lines below.`);
    return [];
  }
  return node.items.flatMap((pair) => {
    const keyNode = pair.key as Node;
    const value = isNode(pair.value) ? pair.value : null;
    const key = isScalar(keyNode) && keyNode.value !== null ? String(keyNode.source ?? keyNode.value) : undefined;
    if (key === undefined) {
      reading.addProblem({ node: keyNode, path: position.path }, 'expected a name before the colon.');
      return [];
    }
    const entry: Entry = { key, keyNode, node: value, path: [...position.path, key] };
    if (!knownKeys || knownKeys.includes(key)) return [entry];
    reading.addProblem({ node: keyNode, path: position.path }, `unknown name '${key}'. ${suggestText(key, knownKeys)}`);
    return [];
  });
}

function listOf(reading: Reading, position: NodePosition, what: string): readonly NodePosition[] {
  const node = resolve(reading, position.node);
  if (isSeq(node)) {
    return node.items.map((item, at) => ({
      node: resolve(reading, item as Node),
      path: [...position.path.slice(0, -1), `${position.path.at(-1) ?? ''}[${at}]`],
    }));
  }
  reading.addProblem(position, `expected ${what}, as a list: [one, another].`);
  return [];
}

function textOf(reading: Reading, { node }: NodePosition): string | undefined {
  const scalar = resolve(reading, node);
  return isScalar(scalar) && typeof scalar.value === 'string' ? scalar.value : undefined;
}

function nameOf(reading: Reading, position: NodePosition): string | undefined {
  const text = textOf(reading, position);
  const problem = text === undefined ? 'expected a name, as text.' : findNameProblem(text);
  if (problem) reading.addProblem(position, problem);
  return problem ? undefined : text;
}

function findNameProblem(name: string): string | undefined {
  if (name.trim() !== name || name === '' || name.length > 191) return 'expected a name of 1 to 191 characters.';
  return undefined;
}

function isName(reading: Reading, { key, keyNode, path }: Entry): boolean {
  const problem = findNameProblem(key);
  if (problem) reading.addProblem({ node: keyNode, path: path.slice(0, -1) }, problem);
  return !problem;
}

function readEnvironments(reading: Reading, position: NodePosition): readonly string[] {
  const names: string[] = [];
  if (!position.node)
    reading.addProblem(position, "'environments' is missing: a list of their names, such as [Production].");
  else if (listOf(reading, position, 'the names of environments').length === 0)
    reading.addProblem(position, 'expected at least one environment.');
  for (const item of position.node ? listOf(reading, position, 'names') : []) {
    const name = nameOf(reading, item);
    if (name === undefined) continue;
    if (names.includes(name)) reading.addProblem(item, `'${name}' is listed twice.`);
    else reading.add(item.node, { kind: 'environment', path: [name], value: name });
    names.push(name);
  }
  return names;
}

function readNetworks(reading: Reading, position: NodePosition | undefined): void {
  if (!position) return;
  const networks = new Set<string>();
  const items = listOf(reading, position, 'addresses and networks');
  const node = resolve(reading, position.node);
  if (isSeq(node) && items.length === 0) {
    reading.addProblem(position, 'the list is empty. Add a network, or remove allowList to allow every address.');
  }
  for (const item of items) {
    const read = readNetwork(textOf(reading, item) ?? '');
    if ('problem' in read) reading.addProblem(item, read.problem);
    else if (networks.has(read.network)) reading.addProblem(item, `${read.network} is listed twice.`);
    else {
      networks.add(read.network);
      reading.add(item.node, { kind: 'network', path: [read.network], value: read.network });
    }
  }
}

/** Reads teams or roles. Each exists by its name, even without content. */
function named(reading: Reading, section: NodePosition | undefined, kind: 'team' | 'role'): readonly Entry[] {
  if (!section) {
    reading.addProblem({ node: reading.document.contents, path: [] }, `'${kind}s' is missing.`);
    return [];
  }
  const entries = mapOf(reading, section, `${kind}s`).filter((entry) => isName(reading, entry));
  for (const { key, keyNode } of entries) reading.add(keyNode, { kind, path: [key], value: key });
  return entries;
}

function environmentsOf(reading: Reading, position: NodePosition, environments: readonly string[]): readonly Entry[] {
  return mapOf(reading, position, 'environments').filter(({ key, keyNode }) => {
    if (environments.includes(key)) return true;
    const problem = `there is no environment '${key}' in the list of 'environments'. ${suggestText(key, environments)}`;
    reading.addProblem({ node: keyNode, path: position.path }, problem);
    return false;
  });
}

function permissionOf(reading: Reading, position: NodePosition): CollectionPermission {
  const entries = mapOf(reading, position, permissionKeys.join(', '), permissionKeys);
  const find = (key: (typeof permissionKeys)[number]) => entries.find((entry) => entry.key === key);
  const may = readMay(reading, find('may'));
  const fields = readEach(reading, find('fields'), 'fields', (entry) => {
    const access = textOf(reading, entry);
    if (access === 'read' || access === 'hidden') return access;
    return void reading.addProblem(entry, 'expected read or hidden; remove the field if it may be written.');
  });
  const approval = readEach(
    reading,
    find('approval'),
    writeVerbs.join(', '),
    (entry) => policyOf(reading, entry),
    writeVerbs,
  );
  const actions = readEach(reading, find('actions'), 'actions', (entry) => actionOf(reading, entry));
  const cascades = find('cascades');
  const isDenied = cascades && textOf(reading, cascades) === 'deny';
  if (cascades && !isDenied) reading.addProblem(cascades, 'expected deny; remove it if cascades are allowed.');
  return {
    ...(Object.fromEntries(verbs.map((verb) => [verb, may.includes(verb)])) as Record<Verb, boolean>),
    ...(isDenied && { cascades: 'deny' as const }),
    ...(fields && { fields }),
    ...(approval && { approval }),
    ...(actions && { actions }),
  } as CollectionPermission;
}

function readMay(reading: Reading, entry: Entry | undefined): readonly string[] {
  if (!entry) return [];
  if (textOf(reading, entry) === 'everything') return verbs;
  return listOf(reading, entry, `verbs (${verbs.join(', ')}) or everything`).flatMap((item) => {
    const verb = textOf(reading, item) ?? '';
    if ((verbs as readonly string[]).includes(verb)) return [verb];
    reading.addProblem(item, `there is no verb '${verb}'. ${suggestText(verb, verbs)}`);
    return [];
  });
}

/** Returns undefined for an empty map, so `fields: {}` and a missing `fields` are equal. */
function readEach<T>(
  reading: Reading,
  position: Entry | undefined,
  what: string,
  read: (entry: Entry) => T | undefined,
  knownNames?: readonly string[],
): Readonly<Record<string, T>> | undefined {
  const entries = (position ? mapOf(reading, position, what, knownNames) : []).flatMap((entry) => {
    const value = read(entry);
    return value === undefined ? [] : [[entry.key, value] as const];
  });
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

function policyOf(reading: Reading, position: NodePosition): unknown {
  const policy: unknown = plainOf(reading, position);
  const problem = findPolicyProblem(policy);
  return problem ? void reading.addProblem(position, problem) : policy;
}

const triggers: Readonly<Record<string, boolean>> = { always: true, never: false };
const triggerExpected = 'expected always, never, or when: with a filter.';

function actionOf(reading: Reading, position: Entry): unknown {
  const word = textOf(reading, position);
  if (word !== undefined) {
    if (Object.hasOwn(triggers, word)) return { trigger: triggers[word] };
    return void reading.addProblem(position, triggerExpected);
  }
  const entries = mapOf(reading, position, 'trigger and approval', ['trigger', 'approval']);
  const trigger = entries.find(({ key }) => key === 'trigger');
  const approval = entries.find(({ key }) => key === 'approval');
  if (!trigger) return void reading.addProblem(position, `'trigger' is missing: ${triggerExpected}`);
  const policy = approval && policyOf(reading, approval);
  return { trigger: triggerOf(reading, trigger), ...(policy !== undefined && { approval: policy }) };
}

function triggerOf(reading: Reading, position: Entry): unknown {
  const word = textOf(reading, position);
  if (word !== undefined && Object.hasOwn(triggers, word)) return triggers[word];
  if (!isMap(resolve(reading, position.node))) return void reading.addProblem(position, triggerExpected);
  const [when] = mapOf(reading, position, 'a condition', ['when']);
  return when && { when: filterOf(reading, when) };
}

function filterOf(reading: Reading, position: NodePosition): unknown {
  const filter = plainOf(reading, position);
  const node = resolve(reading, position.node);
  const positionOf = (path: readonly (string | number)[]): NodePosition => {
    const names = path.map((step) => (typeof step === 'number' ? `[${step}]` : step));
    for (let length = path.length; length > 0; length--) {
      const found = isMap(node) || isSeq(node) ? node.getIn(path.slice(0, length), true) : undefined;
      if (isNode(found)) return { node: found, path: [...position.path, ...names] };
    }
    return { node: node ?? position.node, path: [...position.path, ...names] };
  };
  for (const { path, problem } of findFilterProblems(filter, true)) reading.addProblem(positionOf(path), problem);
  eachText(filter, [], (text, path) => {
    for (const problem of findVariableProblems(text)) reading.addProblem(positionOf(path), problem);
  });
  return filter;
}

function eachText(
  value: unknown,
  path: readonly (string | number)[],
  visit: (text: string, path: readonly (string | number)[]) => void,
): void {
  if (typeof value === 'string') visit(value, path);
  if (typeof value !== 'object' || value === null) return;
  const steps: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  for (const [step, each] of steps) eachText(each, [...path, step], visit);
}

function plainOf({ document }: Reading, { node }: NodePosition): unknown {
  return node ? node.toJS(document) : null;
}

function suggestText(name: string, candidates: readonly string[]): string {
  const near = suggestNames(name, new Set(candidates), 3);
  return near.length > 0 ? `Near: ${near.join(', ')}.` : `Known: ${candidates.join(', ')}.`;
}
