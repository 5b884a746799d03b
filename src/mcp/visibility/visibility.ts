// The permissions that make a tool useful: the caller must have them on at least one collection. Each row of the tool
// table names one of these checks. They concern permissions only; tool-list.ts checks OAuth scopes and enabled tools.
// They control visibility only: every operation checks the same Access again.
import type { Engine } from '../../agent/engine.ts';
import type { CollectionSummary, RelationDescription } from '../../agent/requests.ts';
import type { Access } from '../../core/caller.ts';
import type { Workflow } from '../../store/workflows/types.ts';
import { maySee } from '../../workflows/workflows.ts';

/** `workflows`: the active ones. */
export type Offer = (access: Access, engine: Engine, workflows: readonly OfferedWorkflow[]) => boolean;
export type OfferedWorkflow = Pick<Workflow, 'renderingId' | 'collection'>;

const onSome =
  (suits: (collection: CollectionSummary, access: Access, engine: Engine) => boolean): Offer =>
  (access, engine) =>
    engine.index(access).some((collection) => suits(collection, access, engine));

/** To-many relations to a collection, except those with records computed by code. */
const linksOf = (collection: CollectionSummary, access: Access, engine: Engine): readonly RelationDescription[] =>
  collection.relations.length === 0
    ? []
    : engine.describe(access, collection.name).relations.filter(({ kind, fields }) => kind === 'many' && !fields);

/**
 * Pairs of a many-to-many relation are added or deleted in the join collection. Other links are edits of the foreign
 * record.
 */
const onSomeLink = (verb: 'add' | 'delete'): Offer =>
  onSome((collection, access, engine) =>
    linksOf(collection, access, engine).some(({ to, through }) =>
      through === undefined ? access.can('edit', to) : access.can(verb, through),
    ),
  );

const hasAction: Offer = onSome(({ name }, access, engine) => engine.actions.describe(access, name).length > 0);

const seesWorkflow: Offer = (access, _engine, workflows) => workflows.some((workflow) => maySee(access, workflow));

export const offers = {
  browse: onSome(() => true),
  browseRelated: onSome((collection, access, engine) => linksOf(collection, access, engine).length > 0),
  create: onSome(({ name, writable }, access) => writable && access.can('add', name)),
  update: onSome(({ name, writable }, access) => writable && access.can('edit', name)),
  delete: onSome(({ name, writable }, access) => writable && access.can('delete', name)),
  associate: onSomeLink('add'),
  dissociate: onSomeLink('delete'),
  trigger: hasAction,
  chart: (access, engine) =>
    engine.charts.names(access).length > 0 ||
    engine.index(access).some(({ name }) => access.can('read', name) && engine.charts.names(access, name).length > 0),
  workflow: seesWorkflow,
  startWorkflow: (access, engine, workflows) => access.startsWorkflows && seesWorkflow(access, engine, workflows),
} as const satisfies Readonly<Record<string, Offer>>;
