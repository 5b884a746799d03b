// Actions: operations on records that the developer defines, with a form. Every call runs the same phases: check the
// grant, select the records, fill the form, check the values, run the code.

import type { Access } from '../../core/caller.ts';
import { Stop, type StopSignal, toAbortSignal } from '../../core/clock/stop.ts';
import { isZone } from '../../core/clock/timezone.ts';
import { fail } from '../../core/errors.ts';
import { suggestNames } from '../../core/suggestions.ts';
import type { CallOptions } from '../requests.ts';
import type { FormAnswer } from './answer.ts';
import type { ActionDescription, ActionsOptions } from './catalogue.ts';
import { buildCatalogue, type CatalogueEntry } from './catalogue.ts';
import type { ActionEntry, ReportProgress } from './definitions.ts';
import type { Option } from './elements.ts';
import { actionFailure, runUserCode } from './failure.ts';
import { createForm, type Form, type SubmittedValues } from './form.ts';
import { checkCondition, createRecords, type Records, type Selected, type Selection, select } from './records.ts';
import { type ActionResult, createResultBuilder, isActionResult } from './results.ts';

/**
 * All methods throw UNKNOWN_COLLECTION or UNKNOWN_ACTION, the same for missing names and for missing grants. They throw
 * FORBIDDEN if a record does not satisfy the role's trigger condition, and ACTION_FAILED if the action's code throws.
 */
export interface Actions {
  /** The actions of the collection that the caller may trigger, in the order of definition. */
  describe(access: Access, collection: string): readonly ActionDescription[];
  loadForm(access: Access, request: FormRequest, options?: CallOptions): Promise<FormAnswer>;
  /** A stateful form: each `fill` evaluates only what depends on values changed since the last one. */
  openForm(access: Access, request: FormRequest, options?: CallOptions): Promise<OpenForm>;
  /** The options of one field that match a search text. */
  searchOptions(access: Access, request: SearchRequest, options?: CallOptions): Promise<readonly Option[]>;
  /** INVALID_FORM with all problems of the values; RECORD_NOT_FOUND for records that the caller may not see. */
  execute(access: Access, request: ExecuteRequest, options?: CallOptions): Promise<ActionResult>;
  /** Like `execute`, without running the action's code. Throws every error that would prevent the run. */
  check(access: Access, request: ExecuteRequest, options?: CallOptions): Promise<CheckedAction>;
  /** Like `check`, and also returns the selected records with all stored fields. Do not show them to the caller. */
  preview(
    access: Access,
    request: ExecuteRequest,
    options?: CallOptions,
  ): Promise<CheckedAction & { readonly found: readonly unknown[] }>;
}

interface CheckedAction {
  /** The number of selected records; null for a `Global` action. */
  readonly records: number | null;
  /** The `formValues` that the code would receive. */
  readonly values: Readonly<Record<string, unknown>>;
}

export interface ActionRequest extends Selection {
  readonly collection: string;
  readonly action: string;
  /** By field id. */
  readonly values?: SubmittedValues;
}

interface FormRequest extends ActionRequest {
  /** The id of the field that changed, if that is the reason to load the form. */
  readonly changed?: string;
}

interface SearchRequest extends ActionRequest {
  readonly field: string;
  readonly search: string;
}

interface ExecuteRequest extends ActionRequest {
  /** By field id: the search text that found the value, for fields with a dynamic search. */
  readonly searches?: Readonly<Record<string, string>>;
}

export interface OpenForm {
  readonly answer: FormAnswer;
  /** `values` are all values, not only the changed ones. */
  fill(values: SubmittedValues): Promise<FormAnswer>;
}

/** CONFIGURATION for an invalid definition, with the action and the line that defines it. */
export function createActions(entries: readonly ActionEntry[], options: ActionsOptions): Actions {
  const { engine } = options;
  const catalogue = buildCatalogue(entries, options);

  function openAction(access: Access, { collection, action }: ActionRequest): CatalogueEntry {
    const known = visible(access, collection);
    const found = known.find(({ entry }) => entry.name === action);
    const names = known.map(({ entry }) => entry.name);
    return found ?? fail('UNKNOWN_ACTION', { collection, action, near: suggestNames(String(action), names) });
  }

  function visible(access: Access, collection: string): readonly CatalogueEntry[] {
    if (engine.keyOf(collection) === undefined || !access.can('browse', collection)) {
      const near = suggestNames(
        String(collection),
        engine.names().filter((name) => access.can('browse', name)),
      );
      fail('UNKNOWN_COLLECTION', { collection: String(collection), near });
    }
    const known = catalogue.get(collection) ?? [];
    return known.filter(
      ({ entry, description }) => description.policy?.policy !== 'deny' && mayTrigger(access, collection, entry),
    );
  }

  async function start(
    access: Access,
    request: FormRequest,
    { signal, written }: CallOptions = {},
    needed: boolean,
  ): Promise<{
    readonly known: CatalogueEntry;
    readonly selected: Selected;
    readonly records: Records;
    readonly form: Form;
  }> {
    const known = openAction(access, request);
    const { entry, elements } = known;
    const context = { engine, entry, access, signal, written };
    if (needed) engine.requireNativeScope(access, entry.collection, `run '${entry.name}' on`);
    const selected = await select(context, request, needed);
    await checkCondition(context, selected);
    const records = createRecords(context, selected);
    const zone = isZone(access.caller.timezone) ? access.caller.timezone : 'UTC';
    const form = createForm({ ...context, elements, baseContext: contextBase(context, records), zone });
    await form.fill(request.values ?? {}, request.changed);
    return { known, selected, records, form };
  }

  return {
    describe: (access, collection) => visible(access, collection).map(({ description }) => description),
    async loadForm(access, request, options) {
      const { form } = await start(access, request, options, false);
      return form.answer();
    },
    async openForm(access, request, options) {
      const { form } = await start(access, request, options, false);
      return {
        answer: await form.answer(),
        async fill(values) {
          await form.fill(values);
          return form.answer();
        },
      };
    },
    async searchOptions(access, request, options) {
      const { form } = await start(access, request, options, false);
      return form.searchOptions(request.field, request.search);
    },
    async check(access, request, options) {
      const { selected, form } = await start(access, request, options, true);
      return { records: selected?.length ?? null, values: await form.submit(request.searches ?? {}) };
    },
    async preview(access, request, options) {
      const { selected, records, form } = await start(access, request, options, true);
      const values = await form.submit(request.searches ?? {});
      const found = selected ? await records.getRecords(engine.storedOf(request.collection)) : [];
      return { records: selected?.length ?? null, values, found };
    },
    async execute(access, request, options) {
      const { known, records, form } = await start(access, request, options, true);
      const formValues = await form.submit(request.searches ?? {});
      const call = { entry: known.entry, access, signal: options?.signal };
      const base = contextBase(call, records, options?.progress);
      return runAction(call, Object.freeze({ ...base, formValues, hasFieldChanged: () => false }));
    },
  };
}

/** A `Global` action has no selected records, so it cannot satisfy a trigger condition. */
function mayTrigger(access: Access, collection: string, { name, definition }: ActionEntry): boolean {
  if (!access.canTrigger(collection, name)) return false;
  return definition.scope !== 'Global' || access.triggerCondition(collection, name) === null;
}

async function runAction({ entry, signal }: CodeCall, context: object): Promise<ActionResult> {
  const execute = entry.definition.execute as (context: object, builder: object) => unknown;
  const builder = createResultBuilder();
  const result = await runUserCode(entry, 'execute', () => execute(context, builder), signal);
  if (result === undefined || result === null) return builder.success();
  if (!isActionResult(result))
    throw actionFailure(entry, 'execute', 'it must return a result of the result builder, or undefined');
  if (result.type === 'file' && entry.definition.generateFile !== true)
    throw actionFailure(entry, 'execute', 'it returned a file: define the action with generateFile: true');
  return result;
}

/** The call that runs the action's code. */
interface CodeCall {
  readonly entry: ActionEntry;
  readonly access: Access;
  readonly signal: StopSignal | undefined;
}

/** The members of every context of a call. Contexts of `Single` actions also have the functions for one record. */
function contextBase(
  { entry, access, signal: stop = new Stop() }: CodeCall,
  records: Records,
  report: ReportProgress = () => undefined,
): Record<string, unknown> {
  const { collection, filter, ai, getRecords, getRecordIds, getCompositeRecordIds, ...one } = records;
  const { caller } = access;
  const progress = checkReports(report);
  const signal = toAbortSignal(stop);
  const many = { collection, filter, caller, ai, signal, progress, getRecords, getRecordIds, getCompositeRecordIds };
  return entry.definition.scope === 'Single' ? { ...many, ...one } : many;
}

function checkReports(report: ReportProgress): ReportProgress {
  const isCount = (value: unknown) => typeof value === 'number' && Number.isFinite(value) && value >= 0;
  return (done, total, message) => {
    if (!isCount(done) || !(total === undefined || isCount(total)))
      throw new TypeError('progress: pass the amount done, and the total if it is known, as numbers from 0');
    report(done, total, message === undefined ? undefined : String(message));
  };
}
