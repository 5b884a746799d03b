// The customizer only keeps what it is told, and where: names are looked up when the model is built, since other calls
// may still add them. Every call gives the customizer back.
import { fail } from '../../core/errors.ts';
import { type Operator, operators, type PlainSort } from '../../core/filter.ts';
import { nearNames } from '../../core/near.ts';
import type { ActionDefinition } from '../actions/definitions.ts';
import { callSite } from './call-site.ts';
import type {
  ComputedDefinition,
  Customization,
  HookContexts,
  HookHandler,
  HookPosition,
  ImportDefinition,
  ManyToOneOptions,
  OneToManyOptions,
  OperatorReplacer,
  Recorded,
  SearchReplacer,
  SegmentDefinition,
} from './definitions.ts';

/** A plugin of one collection. */
export type CollectionPlugin<O> = (collection: CollectionCustomizer, options: O) => void;

export class CollectionCustomizer {
  readonly name: string;
  readonly #record: (recorded: Recorded) => void;

  /** `record` throws once the engine has been built. */
  constructor(name: string, record: (recorded: Recorded) => void) {
    this.name = name;
    this.#record = record;
  }

  #add(at: string, what: Customization): this {
    this.#record(Object.freeze({ collection: this.name, at, what: Object.freeze(what) }));
    return this;
  }

  /** Callers use `newName` from now on; customization code keeps using the name from before. */
  renameField(name: string, newName: string): this {
    return this.#add(callSite(this.renameField), { kind: 'renameField', name, newName });
  }

  /** Callers no longer see the fields; customization code does. */
  removeField(...names: readonly string[]): this {
    const at = callSite(this.removeField);
    for (const name of names) this.#add(at, { kind: 'removeField', name });
    return this;
  }

  /** What callers may have done to records, with a form where it needs values (spec 2.3). */
  addAction(name: string, definition: ActionDefinition): this {
    const at = callSite(this.addAction);
    needFunction(definition?.execute, 'execute', at);
    return this.#add(at, { kind: 'action', name, definition });
  }

  /** A read-only field whose values are made of others after reading. */
  addField(name: string, definition: ComputedDefinition): this {
    const at = callSite(this.addField);
    needFunction(definition?.getValues, 'getValues', at);
    if (!Array.isArray(definition.dependencies) || definition.dependencies.length === 0)
      refuse(at, `The field '${name}' needs 'dependencies': the names of at least one field.`);
    return this.#add(at, { kind: 'addField', name, definition });
  }

  /** A field of a to-one relation as a field of this collection: filtered and sorted by the database. */
  importField(name: string, definition: ImportDefinition): this {
    return this.#add(callSite(this.importField), { kind: 'importField', name, definition });
  }

  addSegment(name: string, definition: SegmentDefinition): this {
    return this.#add(callSite(this.addSegment), { kind: 'addSegment', name, definition });
  }

  addManyToOneRelation(name: string, foreign: string, options: ManyToOneOptions): this {
    return this.#add(callSite(this.addManyToOneRelation), { kind: 'toOne', name, foreign, options });
  }

  addOneToManyRelation(name: string, foreign: string, options: OneToManyOptions): this {
    const at = callSite(this.addOneToManyRelation);
    return this.#add(at, { kind: 'fromOther', name, foreign, single: false, options });
  }

  addOneToOneRelation(name: string, foreign: string, options: OneToManyOptions): this {
    const at = callSite(this.addOneToOneRelation);
    return this.#add(at, { kind: 'fromOther', name, foreign, single: true, options });
  }

  /** The operator means the filter that `replace` gives, and the database answers that. */
  replaceFieldOperator(name: string, operator: Operator, replace: OperatorReplacer): this {
    const at = callSite(this.replaceFieldOperator);
    needOperator(operator, at);
    needFunction(replace, 'The replacement of the operator', at);
    return this.#add(at, { kind: 'replaceOperator', name, operator, replace });
  }

  /** Answered after reading: every record that the rest of the filter leaves is read. */
  emulateFieldOperator(name: string, operator: Operator): this {
    const at = callSite(this.emulateFieldOperator);
    needOperator(operator, at);
    return this.#add(at, { kind: 'emulateOperator', name, operator });
  }

  /** `emulateFieldOperator` for every operator of the type that nothing else answers. */
  emulateFieldFiltering(name: string): this {
    return this.#add(callSite(this.emulateFieldFiltering), { kind: 'emulateOperator', name });
  }

  /** To sort by the field is to sort by these. */
  replaceFieldSorting(name: string, clauses: readonly PlainSort[]): this {
    const at = callSite(this.replaceFieldSorting);
    if (!Array.isArray(clauses) || clauses.length === 0)
      refuse(at, `The sorting of '${name}' needs at least one clause {field, ascending}.`);
    return this.#add(at, { kind: 'sort', name, by: clauses });
  }

  /** Sorted after reading: every record that the filter leaves is read. */
  emulateFieldSorting(name: string): this {
    return this.#add(callSite(this.emulateFieldSorting), { kind: 'sort', name, by: 'here' });
  }

  disableFieldSorting(name: string): this {
    return this.#add(callSite(this.disableFieldSorting), { kind: 'sort', name, by: 'nothing' });
  }

  /** Callers are told that the field may be null. */
  setFieldNullable(name: string): this {
    return this.#add(callSite(this.setFieldNullable), { kind: 'nullable', name });
  }

  /** What a search means; the words are the function's business. */
  replaceSearch(replace: SearchReplacer): this {
    const at = callSite(this.replaceSearch);
    needFunction(replace, 'The replacement of the search', at);
    return this.#add(at, { kind: 'search', replace });
  }

  disableSearch(): this {
    return this.#add(callSite(this.disableSearch), { kind: 'search', replace: null });
  }

  disableCount(): this {
    return this.#add(callSite(this.disableCount), { kind: 'disableCount' });
  }

  addHook<P extends HookPosition, T extends keyof HookContexts[P] & string>(
    position: P,
    type: T,
    handler: HookHandler<HookContexts[P][T]>,
  ): this {
    const at = callSite(this.addHook);
    needFunction(handler, 'The hook', at);
    const kind = hookKinds[`${position} ${type}`] ?? refuse(at, `There is no hook '${position} ${type}'.`);
    return this.#add(at, { kind, handler } as Customization);
  }

  use(plugin: CollectionPlugin<undefined>): this;
  use<O>(plugin: CollectionPlugin<O>, options: O): this;
  use<O>(plugin: CollectionPlugin<O | undefined>, options?: O): this {
    plugin(this, options);
    return this;
  }
}

const hookKinds: Readonly<Record<string, 'beforeList' | 'afterList'>> = {
  'Before List': 'beforeList',
  'After List': 'afterList',
};

function needFunction(given: unknown, what: string, at: string): void {
  if (typeof given !== 'function') refuse(at, `${what} must be a function.`);
}

function needOperator(operator: string, at: string): void {
  if ((operators as readonly string[]).includes(operator)) return;
  const near = nearNames(String(operator), operators);
  refuse(at, `No operator '${operator}'.${near.length ? ` Near: ${near.join(', ')}.` : ''}`);
}

function refuse(at: string, problem: string): never {
  return fail('CONFIGURATION', { problem: `${problem} (${at})` });
}
