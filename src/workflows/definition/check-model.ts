// Checks the names in a definition (collections, fields, relations and actions) against the model that `access` may
// use. Values are not checked, since templates may replace them. The editor checks with the access of the user who
// saves. The start checks workflows defined in code.
import type { Engine } from '../../agent/engine.ts';
import type { Access } from '../../core/caller.ts';
import { AppError, fail, isAppError } from '../../core/errors.ts';
import { isBranch, isQuantified, type PlainFilter, readQuantified } from '../../core/filter.ts';
import { nearNames } from '../../core/suggestions.ts';
import { forPeople } from '../runs/failure.ts';
import { stepOf, type WorkflowDefinition, type WorkflowStep } from './definition.ts';
import { referencesOf } from './template.ts';

/** Throws INVALID_ARGUMENT with the position and similar names. `isSaved` also rejects ambiguous filters. */
export function checkAgainstModel(
  definition: WorkflowDefinition,
  access: Access,
  engine: Engine,
  { isSaved = false }: { readonly isSaved?: boolean } = {},
): void {
  const model = modelOf(access, engine, isSaved);
  const at: At = (argument, check) => telling(argument, check, (error) => sayWhatThereIs(error, access, engine));
  at('collection', () => model.collection(definition.collection));
  definition.steps.forEach((step, index) => {
    const where = `steps.${index}`;
    const collection = at(where, () => collectionOf(definition, step, model));
    checkStep(step, collection, (member, check) => at(`${where}.${member}`, check), model);
    at(where, () => {
      for (const { root, name } of referencesOf(step, where)) {
        if (root === 'record') model.field(definition.collection, name);
      }
    });
  });
}

interface Model {
  collection(name: string): void;
  /** A field or a path `relation:field`. */
  field(collection: string, path: string): void;
  writable(collection: string, field: string): void;
  /** Checks that the whole filter is unambiguous. */
  meaning(collection: string, filter: PlainFilter): void;
  /** Returns the target collection. */
  relation(collection: string, name: string): string;
  action(collection: string, name: string): void;
}

function modelOf(access: Access, engine: Engine, isSaved: boolean): Model {
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
    meaning(collection, filter) {
      const [first] = isSaved ? engine.storedFilters.findAmbiguities(access, collection, filter) : [];
      if (first) fail('AMBIGUOUS_FILTER', first);
    },
    action(collection, name) {
      const known = engine.actions.describe(access, collection);
      if (known.some((each) => each.name === name)) return;
      fail('UNKNOWN_ACTION', { collection, action: name, near: near(name, known) });
    },
  };
}

/** The collection of the record that a step uses. */
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

function checkStep(step: WorkflowStep, collection: string, at: At, model: Model): void {
  switch (step.type) {
    case 'condition':
      for (const [index, { when }] of step.options.entries()) {
        at(`options.${index}.when`, () => checkWhole(when, collection, model));
      }
      return;
    case 'read-record':
      for (const field of step.fields) at('fields', () => model.field(collection, field));
      return;
    case 'update-record':
      for (const field of Object.keys(step.values)) at('values', () => model.writable(collection, field));
      return;
    case 'trigger-action':
      at('action', () => model.action(collection, step.action));
      return;
    case 'load-related-record': {
      const to = at('relation', () => model.relation(collection, step.relation));
      at('filter', () => checkWhole(step.filter, to, model));
      for (const { field } of step.sort ?? []) at('sort', () => model.field(to, field));
      return;
    }
  }
}

function checkWhole(filter: PlainFilter | undefined, collection: string, model: Model): void {
  checkFilter(filter, collection, model);
  if (filter) model.meaning(collection, filter);
}

function checkFilter(filter: PlainFilter | undefined, collection: string, model: Model): void {
  if (!filter) return;
  if (isBranch(filter)) for (const each of filter.conditions) checkFilter(each, collection, model);
  else if (!isQuantified(filter)) model.field(collection, filter.field);
  else {
    const { path, where } = readQuantified(filter);
    checkFilter(where, path.split(':').reduce(model.relation, collection), model);
  }
}

/** Adds the position in the definition to errors thrown by `check`. */
type At = <T>(argument: string, check: () => T) => T;

function telling<T>(argument: string, check: () => T, say: (error: AppError) => string): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'INVALID_ARGUMENT') throw error;
    return fail('INVALID_ARGUMENT', { argument, problem: say(error) }, error);
  }
}

const NAMED = 40;

/** Lists the known names, because authors of definitions have no tool to look them up. */
function sayWhatThereIs(error: AppError, access: Access, engine: Engine): string {
  const said = forPeople(error);
  const names = (all: readonly { readonly name: string }[]): string => {
    const more = all.length > NAMED ? `, and ${all.length - NAMED} more` : '';
    const shown = all.slice(0, NAMED).map(({ name }) => name);
    return `${shown.join(', ') || 'nothing'}${more}.`;
  };
  if (isAppError(error, 'UNKNOWN_COLLECTION')) return `${said} There are: ${names(engine.index(access))}`;
  if (isAppError(error, 'UNKNOWN_FIELD')) {
    return `${said} It has: ${names(engine.describe(access, error.details.collection).fields)}`;
  }
  if (isAppError(error, 'UNKNOWN_RELATION')) {
    return `${said} It has: ${names(engine.describe(access, error.details.collection).relations)}`;
  }
  if (isAppError(error, 'UNKNOWN_ACTION')) {
    return `${said} It has: ${names(engine.actions.describe(access, error.details.collection))}`;
  }
  return said;
}
