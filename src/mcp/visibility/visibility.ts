// The permissions that make a tool useful: the caller must have them on at least one collection. Each row of the tool
// table names one of these checks. They concern permissions only; tool-list.ts checks OAuth scopes and enabled tools.
// They control visibility only: every operation checks the same Access again.
import type { Engine } from '../../agent/engine.ts';
import type { CollectionSummary, RelationDescription } from '../../agent/requests.ts';
import type { Access } from '../../core/caller.ts';
import { type ActiveWorkflows, canSeeWorkflow } from '../../workflows/workflows.ts';

export type ToolVisibility = (access: Access, engine: Engine, workflows: ActiveWorkflows) => boolean;

const someCollection =
  (matches: (collection: CollectionSummary, access: Access, engine: Engine) => boolean): ToolVisibility =>
  (access, engine) =>
    engine.index(access).some((collection) => matches(collection, access, engine));

/** To-many relations to a collection, except those with records computed by code. */
const toManyLinks = (collection: CollectionSummary, access: Access, engine: Engine): readonly RelationDescription[] =>
  collection.relations.length === 0
    ? []
    : engine.describe(access, collection.name).relations.filter(({ kind, fields }) => kind === 'many' && !fields);

/**
 * Pairs of a many-to-many relation are added or deleted in the join collection. Other links are edits of the foreign
 * record.
 */
const someLink = (verb: 'add' | 'delete'): ToolVisibility =>
  someCollection((collection, access, engine) =>
    toManyLinks(collection, access, engine).some(({ to, through }) =>
      through === undefined ? access.can('edit', to) : access.can(verb, through),
    ),
  );

const hasAction: ToolVisibility = someCollection(
  ({ name }, access, engine) => engine.actions.describe(access, name).length > 0,
);

const hasWorkflow: ToolVisibility = (access, _engine, workflows) =>
  workflows.some((workflow) => canSeeWorkflow(access, workflow));

export const toolVisibility = {
  browse: someCollection(() => true),
  browseRelated: someCollection((collection, access, engine) => toManyLinks(collection, access, engine).length > 0),
  create: someCollection(({ name, writable }, access) => writable && access.can('add', name)),
  update: someCollection(({ name, writable }, access) => writable && access.can('edit', name)),
  delete: someCollection(({ name, writable }, access) => writable && access.can('delete', name)),
  associate: someLink('add'),
  dissociate: someLink('delete'),
  trigger: hasAction,
  chart: (access, engine) =>
    engine.charts.names(access).length > 0 ||
    engine.index(access).some(({ name }) => access.can('read', name) && engine.charts.names(access, name).length > 0),
  workflow: hasWorkflow,
  startWorkflow: (access, engine, workflows) => access.startsWorkflows && hasWorkflow(access, engine, workflows),
} as const satisfies Readonly<Record<string, ToolVisibility>>;
