// Checks the registered definitions of actions at the start. An error names the action and the line that added it.
import type { Policy } from '../../core/caller.ts';
import { findPolicyProblem, readPolicy } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import { suggestNames } from '../../core/suggestions.ts';
import type { FieldAnswer, LayoutAnswer } from './answer.ts';
import type { ActionEngine } from './collection-access.ts';
import type { ActionEntry, ActionScope } from './definitions.ts';
import { type Element, FormProblem, fieldsOf, isStatic, readForm } from './elements.ts';
import { answerStatic } from './present.ts';

export interface CatalogueEntry {
  readonly entry: ActionEntry;
  /** Undefined if the form is a function. */
  readonly elements: readonly Element[] | undefined;
  readonly description: ActionDescription;
}

const LABEL_LIMIT = 50;
const scopes = ['Single', 'Bulk', 'Global'];
const members = ['scope', 'execute', 'form', 'description', 'generateFile', 'submitButtonLabel', 'approval'];

/** By collection, in the order of registration. */
export function buildCatalogue(
  entries: readonly ActionEntry[],
  options: ActionsOptions,
): ReadonlyMap<string, readonly CatalogueEntry[]> {
  const catalogue = new Map<string, CatalogueEntry[]>();
  for (const entry of entries) {
    const others = catalogue.get(entry.collection) ?? [];
    checkNames(entry, others, options);
    others.push(checkEntry(entry, others.length, options));
    catalogue.set(entry.collection, others);
  }
  return catalogue;
}

function checkNames(entry: ActionEntry, others: readonly CatalogueEntry[], options: ActionsOptions): void {
  const { engine, useUnsafeActionEndpoint } = options;
  const { collection, name } = entry;
  if (engine.keyOf(collection) === undefined) {
    const near = suggestNames(collection, engine.names());
    refuse(entry, `there is no such collection${near.length ? ` (near: ${near.join(', ')})` : ''}`);
  }
  // Tools trim the names that they get.
  if (typeof name !== 'string' || name === '' || name.trim() !== name)
    refuse(entry, 'an action needs a name without spaces at its ends');
  for (const { entry: other } of others) {
    if (other.name === name) refuse(entry, `another action has this name, added at ${other.at}`);
    if (useUnsafeActionEndpoint && toSlug(other.name) === toSlug(name))
      refuse(
        entry,
        `its URL name '${toSlug(name)}' is also that of '${other.name}', added at ${other.at}; rename one of them, or set useUnsafeActionEndpoint to false`,
      );
  }
}

/** Lower case. Each run of characters other than letters, digits and `-` becomes one `-`. */
function toSlug(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9-]+/g, '-');
}

function checkEntry(
  entry: ActionEntry,
  index: number,
  { engine, useUnsafeActionEndpoint }: ActionsOptions,
): CatalogueEntry {
  const { definition, collection, name } = entry;
  checkDefinition(entry);
  const { scope, form, description, generateFile = false, submitButtonLabel, approval } = definition;
  if (scope !== 'Global' && engine.keyOf(collection)?.length === 0)
    refuse(entry, `'${collection}' has no key to identify records; only a Global action is possible`);
  const path = [collection, ...(useUnsafeActionEndpoint ? [] : [String(index)]), toSlug(name)];
  const plain = {
    name,
    scope,
    ...(description !== undefined && { description }),
    generateFile,
    ...(submitButtonLabel !== undefined && { submitButtonLabel }),
    ...(approval !== undefined && { policy: readPolicy(approval) }),
    endpoint: `/_actions/${path.map(encodeURIComponent).join('/')}`,
  };
  if (typeof form === 'function') return { entry, elements: undefined, description: { ...plain, form: 'dynamic' } };
  const { elements, staticAnswer } = readOwnForm(entry, form ?? []);
  for (const { label, props } of fieldsOf(elements)) {
    const { collectionName: foreign } = props;
    if (typeof foreign !== 'string' || engine.keyOf(foreign) !== undefined) continue;
    const near = suggestNames(foreign, engine.names());
    refuse(entry, `field '${label}': no collection '${foreign}'${near.length ? ` (near: ${near.join(', ')})` : ''}`);
  }
  const kind = elements.length === 0 ? 'none' : staticAnswer ? 'static' : 'dynamic';
  return {
    entry,
    elements,
    description: Object.freeze({ ...plain, form: kind, ...(kind === 'static' && staticAnswer) }),
  };
}

function readOwnForm(entry: ActionEntry, form: readonly unknown[]) {
  try {
    const elements = readForm(form);
    return { elements, staticAnswer: isStatic(elements) ? answerStatic(elements) : undefined };
  } catch (error) {
    if (error instanceof FormProblem) return refuse(entry, error.message);
    throw error;
  }
}

function checkDefinition(entry: ActionEntry): void {
  const { definition } = entry;
  if (typeof definition !== 'object' || definition === null) refuse(entry, 'the definition must be an object');
  for (const member of Object.keys(definition)) {
    const near = suggestNames(member, members);
    if (!members.includes(member))
      refuse(
        entry,
        `no option '${member}' (${near.length ? `near: ${near.join(', ')}` : `known: ${members.join(', ')}`})`,
      );
  }
  const { scope, execute, description, generateFile, submitButtonLabel, approval } = definition;
  if (!scopes.includes(scope)) refuse(entry, `scope must be one of ${scopes.join(', ')}`);
  if (typeof execute !== 'function') refuse(entry, 'execute must be a function (context, resultBuilder)');
  if (description !== undefined && typeof description !== 'string') refuse(entry, 'description must be a string');
  if (generateFile !== undefined && typeof generateFile !== 'boolean')
    refuse(entry, 'generateFile must be true or false');
  const problem = approval === undefined ? undefined : findPolicyProblem(approval);
  if (problem) refuse(entry, `approval: ${problem.replace(/\.$/, '')}`);
  if (submitButtonLabel === undefined) return;
  if (typeof submitButtonLabel !== 'string' || submitButtonLabel === '' || submitButtonLabel.length > LABEL_LIMIT)
    refuse(entry, `submitButtonLabel must be a string of at most ${LABEL_LIMIT} characters`);
}

function refuse({ collection, name, at }: ActionEntry, problem: string): never {
  return fail('CONFIGURATION', { problem: `Action '${name}' of '${collection}' (added at ${at}): ${problem}.` });
}

export interface ActionDescription {
  readonly name: string;
  readonly scope: ActionScope;
  readonly description?: string;
  readonly generateFile: boolean;
  readonly submitButtonLabel?: string;
  /** The approval that the definition requires, if it has one. A role may require more. */
  readonly policy?: Policy;
  /** `static`: see `fields`. `dynamic`: the form depends on caller, records and values, and must be loaded. */
  readonly form: 'none' | 'static' | 'dynamic';
  readonly fields?: readonly FieldAnswer[];
  readonly layout?: readonly LayoutAnswer[];
  /** The path in the HTTP API, without its prefix. */
  readonly endpoint: string;
}

export interface ActionsOptions {
  readonly engine: ActionEngine;
  readonly useUnsafeActionEndpoint: boolean;
}
