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
import { findWishProblem, type Verb, verbs } from '../../core/caller.ts';
import { isExact } from '../../core/filter/exact-numbers.ts';
import { nearNames } from '../../core/suggestions.ts';
import { findFilterProblems } from '../../store/permissions/filters.ts';
import { readNetwork } from '../../store/permissions/networks.ts';
import { findVariableProblems } from '../../store/permissions/scopes.ts';
import type { CollectionPermission, Right } from '../../store/permissions/types.ts';

export interface Problem {
  /** Line and column start at 1. */
  readonly line: number;
  readonly column: number;
  /** The path in the file, such as `roles.Clerk.Production.orders`. Empty at the root. */
  readonly at: string;
  readonly problem: string;
}

export interface PlacedRight extends Right {
  readonly line: number;
}

export type RolesFile =
  | { readonly rights: readonly PlacedRight[]; readonly problems?: undefined }
  | { readonly problems: readonly Problem[] };

export const sections = ['organization', 'project', 'environments', 'allowList', 'teams', 'roles'] as const;
export const permissionKeys = ['may', 'fields', 'approval', 'actions', 'cascades'] as const;
const writeVerbs: readonly Verb[] = ['add', 'edit', 'delete'];

/** A value of the file with its path. */
interface Place {
  readonly node: Node | null | undefined;
  readonly path: readonly string[];
}

interface Entry extends Place {
  readonly key: string;
  readonly keyNode: Node;
}

export function readRolesFile(text: string): RolesFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const problems: Problem[] = [];
  const offsetOf = (node: Node | null | undefined): number => node?.range?.[0] ?? 0;
  const tellAt = (offset: number, path: readonly string[], problem: string): void => {
    const { line, col } = lines.linePos(offset);
    problems.push({ line, column: col, at: path.join('.').replaceAll('.[', '['), problem });
  };
  for (const { pos, message } of [...document.errors, ...document.warnings]) tellAt(pos[0], [], message);
  if (problems.length > 0) return { problems };

  const rights: PlacedRight[] = [];
  const tell = ({ node, path }: Place, problem: string) => tellAt(offsetOf(node), path, problem);
  const add = (node: Node | null | undefined, right: Right) =>
    rights.push({ ...right, line: lines.linePos(offsetOf(node)).line });
  visit(document, {
    Scalar(_key, { value, source, range }) {
      if (typeof value !== 'number' || source === undefined || isExact(source)) return;
      tellAt(
        range?.[0] ?? 0,
        [],
        `the number ${source} cannot be kept exactly. Write its digits in quotes: "${source}".`,
      );
    },
  });
  const reading = { document, tell, add };
  tellLostAliases(reading);
  if (problems.length === 0) readAll(reading);
  if (problems.length > 0) return { problems: problems.sort((a, b) => a.line - b.line || a.column - b.column) };
  return { rights };
}

interface Reading {
  readonly document: Document;
  tell(place: Place, problem: string): void;
  /** `node` determines the line of the right. */
  add(node: Node | null | undefined, right: Right): void;
}

function readAll(reading: Reading): void {
  const { document, tell, add } = reading;
  const root: Place = { node: document.contents as Node | null, path: [] };
  const entries = mapOf(reading, root, 'a file with roles', sections);
  const find = (key: (typeof sections)[number]) => entries.find((entry) => entry.key === key);
  for (const kind of ['organization', 'project'] as const) {
    const entry = find(kind);
    if (!entry) tell(root, `'${kind}' is missing: its name.`);
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
function tellLostAliases({ document, tell }: Reading): void {
  visit(document, {
    Alias(_, alias) {
      if (!alias.resolve(document)) tell({ node: alias, path: [] }, `there is no anchor '&${alias.source}' above.`);
    },
  });
}

/** Returns an empty list for an empty value. `known`: the allowed keys. */
function mapOf(reading: Reading, place: Place, what: string, known?: readonly string[]): readonly Entry[] {
  const node = resolve(reading, place.node);
  if (node === null || node === undefined || (isScalar(node) && node.value === null)) return [];
  if (!isMap(node)) {
    reading.tell(place, `expected ${what}, as 'name:' lines below.`);
    return [];
  }
  return node.items.flatMap((pair) => {
    const keyNode = pair.key as Node;
    const value = isNode(pair.value) ? pair.value : null;
    const key = isScalar(keyNode) && keyNode.value !== null ? String(keyNode.source ?? keyNode.value) : undefined;
    if (key === undefined) {
      reading.tell({ node: keyNode, path: place.path }, 'expected a name before the colon.');
      return [];
    }
    const entry: Entry = { key, keyNode, node: value, path: [...place.path, key] };
    if (!known || known.includes(key)) return [entry];
    reading.tell({ node: keyNode, path: place.path }, `there is nothing called '${key}' here. ${nearOf(key, known)}`);
    return [];
  });
}

function listOf(reading: Reading, place: Place, what: string): readonly Place[] {
  const node = resolve(reading, place.node);
  if (isSeq(node)) {
    return node.items.map((item, at) => ({
      node: resolve(reading, item as Node),
      path: [...place.path.slice(0, -1), `${place.path.at(-1) ?? ''}[${at}]`],
    }));
  }
  reading.tell(place, `expected ${what}, as a list: [one, another].`);
  return [];
}

function textOf(reading: Reading, { node }: Place): string | undefined {
  const scalar = resolve(reading, node);
  return isScalar(scalar) && typeof scalar.value === 'string' ? scalar.value : undefined;
}

function nameOf(reading: Reading, place: Place): string | undefined {
  const text = textOf(reading, place);
  const problem = text === undefined ? 'expected a name, as text.' : findNameProblem(text);
  if (problem) reading.tell(place, problem);
  return problem ? undefined : text;
}

function findNameProblem(name: string): string | undefined {
  if (name.trim() !== name || name === '' || name.length > 191) return 'expected a name of 1 to 191 characters.';
  return undefined;
}

function isName(reading: Reading, { key, keyNode, path }: Entry): boolean {
  const problem = findNameProblem(key);
  if (problem) reading.tell({ node: keyNode, path: path.slice(0, -1) }, problem);
  return !problem;
}

function readEnvironments(reading: Reading, place: Place): readonly string[] {
  const names: string[] = [];
  if (!place.node) reading.tell(place, "'environments' is missing: a list of their names, such as [Production].");
  else if (listOf(reading, place, 'the names of environments').length === 0)
    reading.tell(place, 'expected one environment at least.');
  for (const item of place.node ? listOf(reading, place, 'names') : []) {
    const name = nameOf(reading, item);
    if (name === undefined) continue;
    if (names.includes(name)) reading.tell(item, `'${name}' stands here twice.`);
    else reading.add(item.node, { kind: 'environment', path: [name], value: name });
    names.push(name);
  }
  return names;
}

function readNetworks(reading: Reading, place: Place | undefined): void {
  if (!place) return;
  const known = new Set<string>();
  const items = listOf(reading, place, 'addresses and networks');
  const node = resolve(reading, place.node);
  if (isSeq(node) && items.length === 0) {
    reading.tell(place, 'an empty list would let nobody in, or everybody? Leave allowList out to let everybody in.');
  }
  for (const item of items) {
    const read = readNetwork(textOf(reading, item) ?? '');
    if ('problem' in read) reading.tell(item, read.problem);
    else if (known.has(read.network)) reading.tell(item, `${read.network} stands here twice.`);
    else {
      known.add(read.network);
      reading.add(item.node, { kind: 'network', path: [read.network], value: read.network });
    }
  }
}

/** Reads teams or roles. Each exists by its name, even without content. */
function named(reading: Reading, section: Place | undefined, kind: 'team' | 'role'): readonly Entry[] {
  if (!section) {
    reading.tell({ node: reading.document.contents as Node | null, path: [] }, `'${kind}s' is missing.`);
    return [];
  }
  const entries = mapOf(reading, section, `${kind}s`).filter((entry) => isName(reading, entry));
  for (const { key, keyNode } of entries) reading.add(keyNode, { kind, path: [key], value: key });
  return entries;
}

function environmentsOf(reading: Reading, place: Place, known: readonly string[]): readonly Entry[] {
  return mapOf(reading, place, 'environments').filter(({ key, keyNode }) => {
    if (known.includes(key)) return true;
    const problem = `there is no environment '${key}' in the list of 'environments'. ${nearOf(key, known)}`;
    reading.tell({ node: keyNode, path: place.path }, problem);
    return false;
  });
}

function permissionOf(reading: Reading, place: Place): CollectionPermission {
  const entries = mapOf(reading, place, permissionKeys.join(', '), permissionKeys);
  const find = (key: (typeof permissionKeys)[number]) => entries.find((entry) => entry.key === key);
  const may = readMay(reading, find('may'));
  const fields = readEach(reading, find('fields'), 'fields', (entry) => {
    const access = textOf(reading, entry);
    if (access === 'read' || access === 'hidden') return access;
    return void reading.tell(entry, 'expected read or hidden; leave the field out where it may be written.');
  });
  const approval = readEach(
    reading,
    find('approval'),
    writeVerbs.join(', '),
    (entry) => wishOf(reading, entry),
    writeVerbs,
  );
  const actions = readEach(reading, find('actions'), 'actions', (entry) => actionOf(reading, entry));
  const cascades = find('cascades');
  const isDenied = cascades && textOf(reading, cascades) === 'deny';
  if (cascades && !isDenied) reading.tell(cascades, 'expected deny; leave it out where they are allowed.');
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
    reading.tell(item, `there is no verb '${verb}'. ${nearOf(verb, verbs)}`);
    return [];
  });
}

/** Returns undefined for an empty map, so `fields: {}` and a missing `fields` are equal. */
function readEach<T>(
  reading: Reading,
  place: Entry | undefined,
  what: string,
  read: (entry: Entry) => T | undefined,
  known?: readonly string[],
): Readonly<Record<string, T>> | undefined {
  const entries = (place ? mapOf(reading, place, what, known) : []).flatMap((entry) => {
    const value = read(entry);
    return value === undefined ? [] : [[entry.key, value] as const];
  });
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

function wishOf(reading: Reading, place: Place): unknown {
  const wish: unknown = plainOf(reading, place);
  const problem = findWishProblem(wish);
  return problem ? void reading.tell(place, problem) : wish;
}

const triggers: Readonly<Record<string, boolean>> = { always: true, never: false };
const triggerExpected = 'expected always, never, or when: with a filter.';

function actionOf(reading: Reading, place: Entry): unknown {
  const word = textOf(reading, place);
  if (word !== undefined) {
    if (Object.hasOwn(triggers, word)) return { trigger: triggers[word] };
    return void reading.tell(place, triggerExpected);
  }
  const entries = mapOf(reading, place, 'trigger and approval', ['trigger', 'approval']);
  const trigger = entries.find(({ key }) => key === 'trigger');
  const approval = entries.find(({ key }) => key === 'approval');
  if (!trigger) return void reading.tell(place, `'trigger' is missing: ${triggerExpected}`);
  const wish = approval && wishOf(reading, approval);
  return { trigger: triggerOf(reading, trigger), ...(wish !== undefined && { approval: wish }) };
}

function triggerOf(reading: Reading, place: Entry): unknown {
  const word = textOf(reading, place);
  if (word !== undefined && Object.hasOwn(triggers, word)) return triggers[word];
  if (!isMap(resolve(reading, place.node))) return void reading.tell(place, triggerExpected);
  const [when] = mapOf(reading, place, 'a condition', ['when']);
  return when && { when: filterOf(reading, when) };
}

function filterOf(reading: Reading, place: Place): unknown {
  const filter = plainOf(reading, place);
  const node = resolve(reading, place.node);
  const placeOf = (path: readonly (string | number)[]): Place => {
    const names = path.map((step) => (typeof step === 'number' ? `[${step}]` : step));
    for (let length = path.length; length > 0; length--) {
      const found = isMap(node) || isSeq(node) ? node.getIn(path.slice(0, length), true) : undefined;
      if (isNode(found)) return { node: found, path: [...place.path, ...names] };
    }
    return { node: node ?? place.node, path: [...place.path, ...names] };
  };
  for (const { path, problem } of findFilterProblems(filter, true)) reading.tell(placeOf(path), problem);
  eachText(filter, [], (text, path) => {
    for (const problem of findVariableProblems(text)) reading.tell(placeOf(path), problem);
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

function plainOf({ document }: Reading, { node }: Place): unknown {
  return node ? node.toJS(document) : null;
}

function nearOf(name: string, known: readonly string[]): string {
  const near = nearNames(name, new Set(known), 3);
  return near.length > 0 ? `Near: ${near.join(', ')}.` : `Known: ${known.join(', ')}.`;
}
