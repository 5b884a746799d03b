// Whether what a definition names is there: collections, fields, relations and actions, as somebody sees them. What values are
// fit for is not asked: templates stand in their places. The editor asks it for who saves, the start for what code defines.
import type { Engine } from '../agent/engine.ts';
import type { Access } from '../core/caller.ts';
import { AppError, fail } from '../core/errors.ts';
import { isBranch, type PlainFilter } from '../core/filter.ts';
import { nearNames } from '../core/near.ts';
import { stepOf, type WorkflowDefinition, type WorkflowStep } from './definition.ts';
import { referencesOf } from './template.ts';

/** INVALID_ARGUMENT that says where, and offers near names. */
export function checkAgainstModel(definition: WorkflowDefinition, access: Access, engine: Engine): void {
  const model = modelOf(access, engine);
  at('collection', () => model.collection(definition.collection));
  definition.steps.forEach((step, index) => {
    const where = `steps.${index}`;
    const collection = at(where, () => collectionOf(definition, step, model));
    checkStep(step, collection, where, model);
    at(where, () => {
      for (const { root, name } of referencesOf(step, where)) {
        if (root === 'record') model.field(definition.collection, name);
      }
    });
  });
}

interface Model {
  collection(name: string): void;
  /** Also `relation:field`. */
  field(collection: string, path: string): void;
  writable(collection: string, field: string): void;
  /** The collection that it leads to. */
  relation(collection: string, name: string): string;
  action(collection: string, name: string): void;
}

function modelOf(access: Access, engine: Engine): Model {
  const near = (name: string, known: readonly { readonly name: string }[]) =>
    nearNames(
      name,
      known.map((each) => each.name),
    );
  const field = (collection: string, name: string) => {
    const { fields } = engine.describe(access, collection);
    const found = fields.find((each) => each.name === name);
    return found ?? fail('UNKNOWN_FIELD', { collection, field: name, near: near(name, fields) });
  };
  const relation = (collection: string, name: string): string => {
    const { relations } = engine.describe(access, collection);
    const found = relations.find((each) => each.name === name);
    return (found ?? fail('UNKNOWN_RELATION', { collection, relation: name, near: near(name, relations) })).to;
  };
  return {
    collection: (name) => void engine.describe(access, name),
    field(collection, path) {
      const parts = path.split(':');
      const last = parts.pop()!;
      field(parts.reduce(relation, collection), last);
    },
    writable(collection, name) {
      if (field(collection, name).readOnly) fail('READ_ONLY', { collection, why: `'${name}' cannot be written.` });
    },
    relation,
    action(collection, name) {
      const known = engine.actions.describe(access, collection);
      if (known.some((each) => each.name === name)) return;
      fail('UNKNOWN_ACTION', { collection, action: name, near: near(name, known) });
    },
  };
}

/** Of the record that a step is about. */
function collectionOf(definition: WorkflowDefinition, step: WorkflowStep, model: Model): string {
  const seen = new Set<string>();
  const of = (one: WorkflowStep): string => {
    const from = 'record' in one && one.record !== undefined ? stepOf(definition, one.record) : undefined;
    if (from?.type !== 'load-related-record') return definition.collection;
    if (seen.has(from.id)) {
      const problem = `'${from.id}' takes its record by way of itself.`;
      return fail('INVALID_ARGUMENT', { argument: 'record', problem });
    }
    seen.add(from.id);
    return model.relation(of(from), from.relation);
  };
  return of(step);
}

function checkStep(step: WorkflowStep, collection: string, where: string, model: Model): void {
  switch (step.type) {
    case 'condition':
      for (const [index, { when }] of step.options.entries()) {
        at(`${where}.options.${index}.when`, () => checkFilter(when, collection, model));
      }
      return;
    case 'read-record':
      for (const field of step.fields) at(`${where}.fields`, () => model.field(collection, field));
      return;
    case 'update-record':
      for (const field of Object.keys(step.values)) at(`${where}.values`, () => model.writable(collection, field));
      return;
    case 'trigger-action':
      at(`${where}.action`, () => model.action(collection, step.action));
      return;
    case 'load-related-record': {
      const to = at(`${where}.relation`, () => model.relation(collection, step.relation));
      at(`${where}.filter`, () => checkFilter(step.filter, to, model));
      for (const { field } of step.sort ?? []) at(`${where}.sort`, () => model.field(to, field));
      return;
    }
  }
}

function checkFilter(filter: PlainFilter | undefined, collection: string, model: Model): void {
  if (!filter) return;
  if (isBranch(filter)) for (const each of filter.conditions) checkFilter(each, collection, model);
  else model.field(collection, filter.field);
}

function at<T>(argument: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'INVALID_ARGUMENT') throw error;
    return fail('INVALID_ARGUMENT', { argument, problem: error.message }, error);
  }
}
