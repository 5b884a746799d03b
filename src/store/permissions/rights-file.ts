// Writes the roles file. The order is fixed, which makes a diff of two files show only real changes. Comments in the
// file explain what each section accepts.
import { Document, isMap, isPair, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml';
import { type PolicyInput, type Verb, verbs } from '../../core/caller.ts';
import type { ActionTrigger, CollectionPermission, Right, RightKind } from './types.ts';

const head = ` Permissions. Edit this file, then run: portico roles push <this file>
 The push shows the changes and asks for confirmation. They apply from the next call on, in every process.
 The reference is docs/permissions.md.`;

/** Comments above the sections of the file. */
const teaching: Readonly<Record<string, string>> = {
  environments: ' Each has its own permissions and row scopes. A process serves one: SERVICE_ENVIRONMENT.',
  allowList: ' Only these networks can reach the project. Without this section, every address can.',
  teams: ` Members of a team see only the records of a collection that match its filter (* means every
 collection without its own line). Values can be user attributes: {{currentUser.id}}, .email, .team, .role,
 .timezone, .permissionLevel, or {{currentUser.tags.<key>}}. Without a value no records match.`,
  roles: ` By environment and collection; * means every collection without its own line.
   may       any of ${verbs.join(', ')}; or everything
   fields    hidden or read; a field that is not listed can be written
   approval  for add, edit, delete: ask, ask-person, deny, or { policy: ask-person, secondPerson: true }
   actions   always, never, or trigger: { when: a filter }, with its own approval. An action that is not
             listed is for those who may edit.
   cascades  deny: no write that the database extends to or from records of this collection`,
};

const noNetworks = ` Only these networks can reach the project, such as
   allowList: [203.0.113.0/24, "2001:db8::/32"]
 There are no networks: every address can reach it.`;

export function writeRolesFile(rights: readonly Right[]): string {
  const of = (kind: RightKind) => rights.filter((right) => right.kind === kind);
  const networks = of('network').map(({ path }) => path[0]!);
  const plain = {
    organization: of('organization')[0]?.value,
    project: of('project')[0]?.value,
    environments: of('environment')
      .map(({ path }) => path[0]!)
      .sort(),
    ...(networks.length > 0 && { allowList: [...networks].sort() }),
    teams: tree(of('team'), of('scope'), (value) => value),
    roles: tree(of('role'), of('permission'), (value) => showPermission(value as CollectionPermission)),
  };
  const document = new Document(plain, { aliasDuplicateObjects: false });
  document.commentBefore = head;
  for (const pair of (document.contents as unknown as YAMLMap<Node, Node>).items) {
    const { key } = pair;
    if (!isScalar(key)) continue;
    const name = String(key.value);
    if (name !== 'project' && name !== 'organization') key.spaceBefore = true;
    const comment = name === 'teams' && networks.length === 0 ? `${noNetworks}\n\n${teaching.teams}` : teaching[name];
    if (comment !== undefined) key.commentBefore = comment;
  }
  flowLeaves(document.contents as Node);
  return document.toString({ lineWidth: 120, flowCollectionPadding: true });
}

/** Names in byte order, `*` first. */
function tree(owners: readonly Right[], rights: readonly Right[], show: (value: unknown) => unknown): object {
  return byName(
    owners.map(({ path: [owner] }) => {
      const own = rights.filter(({ path }) => path[0] === owner);
      const environments = [...new Set(own.map(({ path }) => path[1]!))];
      const views = environments.map((environment): [string, unknown] => [
        environment,
        byName(own.filter(({ path }) => path[1] === environment).map(({ path, value }) => [path[2]!, show(value)])),
      ]);
      return [owner!, byName(views)];
    }),
  );
}

const byName = (entries: readonly (readonly [string, unknown])[]): ReadonlyMap<string, unknown> =>
  new Map([...entries].sort(([a], [b]) => (a === '*' ? -1 : b === '*' ? 1 : a < b ? -1 : 1)));

function showPermission(permission: CollectionPermission): object {
  const { fields = {}, approval = {}, actions = {} } = permission;
  const may = verbs.filter((verb) => permission[verb]);
  const shown = Object.entries(actions).map(([name, action]): [string, unknown] => [name, showAction(action)]);
  return {
    may: may.length === verbs.length ? 'everything' : may,
    ...(Object.keys(fields).length > 0 && { fields: byName(Object.entries(fields)) }),
    ...(Object.keys(approval).length > 0 && {
      approval: Object.fromEntries(verbs.flatMap((verb) => showApproval(verb, approval))),
    }),
    ...(shown.length > 0 && { actions: byName(shown) }),
    ...(permission.cascades && { cascades: permission.cascades }),
  };
}

function showApproval(verb: Verb, approval: Readonly<Partial<Record<string, PolicyInput>>>): [string, PolicyInput][] {
  const policy = approval[verb];
  return policy === undefined ? [] : [[verb, policy]];
}

function showAction({
  trigger,
  approval,
}: {
  readonly trigger: ActionTrigger;
  readonly approval?: PolicyInput;
}): unknown {
  const word = typeof trigger === 'object' ? trigger : trigger ? 'always' : 'never';
  if (approval !== undefined) return { trigger: word, approval };
  return typeof word === 'string' ? word : { trigger: word };
}

/** Writes lists of words and small maps without nested values on one line. */
function flowLeaves(node: Node): boolean {
  if (isSeq(node)) {
    const leaves = node.items.map((item) => flowLeaves(item as Node));
    node.flow = leaves.every(Boolean) && node.items.every((item) => isScalar(item));
    return false;
  }
  if (!isMap(node)) return isScalar(node);
  const values = node.items.filter(isPair) as unknown as Pair<Node, Node>[];
  const isLeaf = values.map(({ value }) => flowLeaves(value as Node)).every(Boolean);
  const isFilter = node.has('operator') || node.has('policy');
  node.flow = node.items.length === 0 || (isFilter && values.every(({ value }) => isScalar(value) || isSeq(value)));
  return isLeaf && node.flow;
}
