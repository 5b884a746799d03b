// Checks the names in a definition (collections, fields, relations and actions) against the model that `access` may
// use. Values are not checked, since templates may replace them. The editor checks with the access of the user who
// saves. The start checks workflows defined in code.
import type { Engine } from '../../agent/engine.ts';
import type { Access } from '../../core/caller.ts';
import { AppError, fail, isAppError } from '../../core/errors.ts';
import {
  comparedNames,
  isBranch,
  isComparison,
  isQuantified,
  type PlainFilter,
  readQuantified,
} from '../../core/filter.ts';
import { suggestNames } from '../../core/suggestions.ts';
import { withoutToolAdvice } from '../runs/failure.ts';
import { stepOf, type WorkflowDefinition, type WorkflowStep } from './definition.ts';
import { referencesOf } from './template.ts';

/** Throws INVALID_ARGUMENT with the position and similar names. `isSaved` also rejects ambiguous filters. */
export function checkAgainstModel(
  definition: WorkflowDefinition,
  access: Access,
  engine: Engine,
  { isSaved = false }: { readonly isSaved?: boolean } = {},
): void {
  const model = createModelCheck(access, engine, isSaved);
  const checkAt: CheckAt = (argument, check) =>
    withPosition(argument, check, (error) => describeWithKnownNames(error, access, engine));
  checkAt('collection', () => model.collection(definition.collection));
  definition.steps.forEach((step, index) => {
    const where = `steps.${index}`;
    const collection = checkAt(where, () => collectionOf(definition, step, model));
    checkStep(step, collection, (member, check) => checkAt(`${where}.${member}`, check), model);
    checkAt(where, () => {
      for (const { root, name } of referencesOf(step, where)) {
        if (root === 'record') model.field(definition.collection, name);
      }
    });
  });
}

interface ModelCheck {
  collection(name: string): void;
  /** A field or a path `relation:field`. */
  field(collection: string, path: string): void;
  writable(collection: string, field: string): void;
  /** Checks that the whole filter is unambiguous. */
  requireUnambiguous(collection: string, filter: PlainFilter): void;
  /** Returns the target collection. */
  relation(collection: string, name: string): string;
  action(collection: string, name: string): void;
}

function createModelCheck(access: Access, engine: Engine, isSaved: boolean): ModelCheck {
  const suggest = (name: string, known: readonly { readonly name: string }[]) =>
    suggestNames(
      name,
      known.map((each) => each.name),
    );
  const field = (collection: string, name: string) => {
    const { fields } = engine.describe(access, collection);
    const found = fields.find((each) => each.name === name);
    return found ?? fail('UNKNOWN_FIELD', { collection, field: name, near: suggest(name, fields) });
  };
  const relation = (collection: string, name: string): string => {
    const { relations } = engine.describe(access, collection);
    const found = relations.find((each) => each.name === name);
    return (found ?? fail('UNKNOWN_RELATION', { collection, relation: name, near: suggest(name, relations) })).to;
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
    requireUnambiguous(collection, filter) {
      const [first] = isSaved ? engine.storedFilters.findAmbiguities(access, collection, filter) : [];
      if (first) fail('AMBIGUOUS_FILTER', first);
    },
    action(collection, name) {
      const known = engine.actions.describe(access, collection);
      if (known.some((each) => each.name === name)) return;
      fail('UNKNOWN_ACTION', { collection, action: name, near: suggest(name, known) });
    },
  };
}

/** The collection of the record that a step uses. */
function collectionOf(definition: WorkflowDefinition, step: WorkflowStep, model: ModelCheck): string {
  const visited = new Set<string>();
  const resolve = (current: WorkflowStep): string => {
    const from = 'record' in current && current.record !== undefined ? stepOf(definition, current.record) : undefined;
    if (from?.type !== 'load-related-record') return definition.collection;
    if (visited.has(from.id)) {
      const problem = `the record of '${from.id}' depends on itself.`;
      return fail('INVALID_ARGUMENT', { argument: 'record', problem });
    }
    visited.add(from.id);
    return model.relation(resolve(from), from.relation);
  };
  return resolve(step);
}

function checkStep(step: WorkflowStep, collection: string, checkAt: CheckAt, model: ModelCheck): void {
  switch (step.type) {
    case 'condition':
      for (const [index, { when }] of step.options.entries()) {
        checkAt(`options.${index}.when`, () => checkWholeFilter(when, collection, model));
      }
      return;
    case 'read-record':
      for (const field of step.fields) checkAt('fields', () => model.field(collection, field));
      return;
    case 'update-record':
      for (const field of Object.keys(step.values)) checkAt('values', () => model.writable(collection, field));
      return;
    case 'trigger-action':
      checkAt('action', () => model.action(collection, step.action));
      return;
    case 'load-related-record': {
      const to = checkAt('relation', () => model.relation(collection, step.relation));
      checkAt('filter', () => checkWholeFilter(step.filter, to, model));
      for (const { field } of step.sort ?? []) checkAt('sort', () => model.field(to, field));
      return;
    }
  }
}

function checkWholeFilter(filter: PlainFilter | undefined, collection: string, model: ModelCheck): void {
  checkFilter(filter, collection, model);
  if (filter) model.requireUnambiguous(collection, filter);
}

function checkFilter(filter: PlainFilter | undefined, collection: string, model: ModelCheck): void {
  if (!filter) return;
  if (isBranch(filter)) for (const each of filter.conditions) checkFilter(each, collection, model);
  else if (isComparison(filter)) for (const name of comparedNames(filter)) model.field(collection, name);
  else if (!isQuantified(filter)) model.field(collection, filter.field);
  else {
    const { path, where } = readQuantified(filter);
    checkFilter(where, path.split(':').reduce(model.relation, collection), model);
  }
}

/** Adds the position in the definition to errors thrown by `check`. */
type CheckAt = <T>(argument: string, check: () => T) => T;

function withPosition<T>(argument: string, check: () => T, describe: (error: AppError) => string): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'INVALID_ARGUMENT') throw error;
    return fail('INVALID_ARGUMENT', { argument, problem: describe(error) }, error);
  }
}

const MAX_LISTED_NAMES = 40;

/** Lists the known names, because authors of definitions have no tool to look them up. */
function describeWithKnownNames(error: AppError, access: Access, engine: Engine): string {
  const message = withoutToolAdvice(error);
  const names = (all: readonly { readonly name: string }[]): string => {
    const more = all.length > MAX_LISTED_NAMES ? `, and ${all.length - MAX_LISTED_NAMES} more` : '';
    const listed = all.slice(0, MAX_LISTED_NAMES).map(({ name }) => name);
    return `${listed.join(', ') || 'nothing'}${more}.`;
  };
  if (isAppError(error, 'UNKNOWN_COLLECTION')) return `${message} Known: ${names(engine.index(access))}`;
  if (isAppError(error, 'UNKNOWN_FIELD')) {
    return `${message} It has: ${names(engine.describe(access, error.details.collection).fields)}`;
  }
  if (isAppError(error, 'UNKNOWN_RELATION')) {
    return `${message} It has: ${names(engine.describe(access, error.details.collection).relations)}`;
  }
  if (isAppError(error, 'UNKNOWN_ACTION')) {
    return `${message} It has: ${names(engine.actions.describe(access, error.details.collection))}`;
  }
  return message;
}
