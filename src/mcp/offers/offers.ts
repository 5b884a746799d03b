// What a caller must be allowed to do, on one collection at least, for a tool to be of use. A row of the tool table names
// one of these; the question is about permissions alone, since OAuth scopes and enabled tools are asked for elsewhere
// (menu.ts). It decides what is shown, never what is done: an operation asks the same Access again.
import type { CollectionSummary, Engine, RelationDescription } from '../../agent/engine.ts';
import type { Access } from '../../core/caller.ts';
import type { Workflow } from '../../store/workflow-types.ts';
import { maySee } from '../../workflow/room.ts';

/** `workflows`: those that are active. */
export type Offer = (access: Access, engine: Engine, workflows: readonly OfferedWorkflow[]) => boolean;
export type OfferedWorkflow = Pick<Workflow, 'renderingId' | 'collection'>;

const onSome =
  (suits: (collection: CollectionSummary, access: Access, engine: Engine) => boolean): Offer =>
  (access, engine) =>
    engine.index(access).some((collection) => suits(collection, access, engine));

/** A relation to many whose other end is a collection: not one whose records code gives. */
const linksOf = (collection: CollectionSummary, access: Access, engine: Engine): readonly RelationDescription[] =>
  collection.relations.length === 0
    ? []
    : engine.describe(access, collection.name).relations.filter(({ kind, fields }) => kind === 'many' && !fields);

/** Pairs of a many-to-many relation are records of the collection between, made and deleted; other links are edited. */
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
