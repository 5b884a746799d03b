// Evaluates a form. The values determine which fields are shown, which are read-only and which ones the server sets,
// and these determine the values. Both are evaluated in rounds until the values are stable. A round calls only the
// handlers that read a changed value (dependency-tracker.ts). Other functions (options, bounds, texts) run at the end.
//
// The value of a field is its `value`, else the caller's value (unless the field is read-only), else its
// `defaultValue`. A hidden field has no value, and only its `if` is called.
import { isDeepStrictEqual } from 'node:util';
import { fail } from '../../core/errors.ts';
import { suggestNames } from '../../core/suggestions.ts';
import { answerField, answerLayout, type FieldProblem, type FormAnswer, type PresentedField } from './answer.ts';
import { findInvalidOption, findProblem, isEmpty, suggestValues } from './bounds.ts';
import { type Cell, createDependencyTracker, type TrackedContext } from './dependency-tracker.ts';
import {
  type Element,
  type FieldElement,
  FormProblem,
  fieldsOf,
  type Option,
  readForm,
  readOptions,
} from './elements.ts';
import { actionFailure, runUserCode } from './failure.ts';
import { type Key, readKey } from './keys.ts';
import { presentField, readDefined } from './present.ts';
import { type ActionCall, isVisible } from './records.ts';
import { expected, readValue, ValueProblem } from './values.ts';

export type SubmittedValues = Readonly<Record<string, unknown>>;

export interface Form {
  /** `values`: all values of the caller so far. `changed`: the field that changed, if that caused the request. */
  fill(values: SubmittedValues, changed?: string): Promise<void>;
  answer(): Promise<FormAnswer>;
  /** The values to execute with. INVALID_FORM with all problems at once. */
  submit(searches: Readonly<Record<string, string>>): Promise<Readonly<Record<string, unknown>>>;
  /** INVALID_ARGUMENT for a field that is hidden or cannot be searched. */
  searchOptions(field: string, search: string): Promise<readonly Option[]>;
}

interface FormContext extends ActionCall {
  /** The form, already read. Undefined if it is a function. */
  readonly elements: readonly Element[] | undefined;
  /** The members of the context that are not tracked. */
  readonly baseContext: Readonly<Record<string, unknown>>;
  readonly zone: string;
}

type Handler = (context: unknown, search?: string | null) => unknown;

export function createForm(context: FormContext): Form {
  const { entry, zone } = context;
  let submitted: ReadonlyMap<string, unknown> = new Map();
  let changed: ReadonlySet<string> = new Set();
  let current: ReadonlyMap<string, unknown> = new Map();
  let roots: readonly Element[] = context.elements ?? [];
  /** The elements shown after the last round. */
  let shown: readonly Element[] = [];
  let readOnly: ReadonlySet<string> = new Set();
  let formCell: Cell | undefined;
  const computed = new Map<string, { readonly cell: Cell; readonly value: unknown }>();
  const read = createValueReader(zone);
  const tracker = createDependencyTracker({ values: () => current, hasChanged: (field) => changed.has(field) });

  const call = (handler: Handler, part: string, looking: TrackedContext, search: string | null): Promise<unknown> =>
    runUserCode(
      entry,
      part,
      () => handler(Object.freeze({ ...context.baseContext, ...looking }), search),
      context.signal,
    );
  const evaluateOnce = (handler: Handler, part: string, own?: string): Cell =>
    tracker.evaluate((looking) => call(handler, part, looking, null), handler, own);
  const evaluate = async (prop: unknown, part: string, own?: string): Promise<unknown> =>
    typeof prop === 'function' ? evaluateOnce(prop as Handler, part, own).result : prop;
  const withProblems = <Result>(part: string, run: () => Result): Result => {
    try {
      return run();
    } catch (error) {
      throw error instanceof FormProblem ? actionFailure(entry, part, error) : error;
    }
  };

  async function readRoots(): Promise<readonly Element[]> {
    if (context.elements) return context.elements;
    const cell = evaluateOnce(entry.definition.form as Handler, 'form');
    const given = await cell.result;
    if (cell !== formCell) roots = withProblems('form', () => readForm(given));
    formCell = cell;
    return roots;
  }

  async function show(elements: readonly Element[]): Promise<readonly Element[]> {
    const kept = await Promise.all(
      elements.map(async (element): Promise<readonly Element[]> => {
        const { if: condition } = element.props;
        if (condition !== undefined && !(await evaluate(condition, `'if' of ${nameOf(element)}`))) return [];
        return element.kind === 'field' ? [element] : [{ ...element, children: await show(element.children) }];
      }),
    );
    return kept.flat();
  }

  async function findValue(field: FieldElement, locked: boolean): Promise<unknown> {
    const { id, type, props } = field;
    const given = (name: string, value: unknown) => {
      const part = partOf(name, field);
      // Computed from missing inputs, a value is often NaN. A later round corrects it.
      if (Number.isNaN(value)) return undefined;
      return value === undefined ? undefined : withProblems(part, () => readDefined(type, value, zone, part));
    };
    if (typeof props.value === 'function') {
      const cell = evaluateOnce(props.value as Handler, partOf('value', field), id);
      const result = await cell.result;
      if (computed.get(id)?.cell !== cell) computed.set(id, { cell, value: given('value', result) });
      const { value } = computed.get(id)!;
      if (value !== undefined) return value;
    } else if (props.value !== undefined) return given('value', props.value);
    if (!locked) {
      const { value } = read(field, submitted.get(id));
      if (value !== undefined) return value;
    }
    return given('defaultValue', await evaluate(props.defaultValue, partOf('defaultValue', field), id));
  }

  async function settle(): Promise<void> {
    for (let round = 0; ; round++) {
      const everything = await readRoots();
      shown = await show(everything);
      const fields = fieldsOf(shown);
      const locked = await Promise.all(
        fields.map((field) => evaluate(field.props.isReadOnly, partOf('isReadOnly', field))),
      );
      const values = await Promise.all(fields.map((field, index) => findValue(field, Boolean(locked[index]))));
      const next = new Map(fields.map((field, index) => [field.id, values[index]] as const));
      for (const [id, value] of next) if (value === undefined) next.delete(id);
      readOnly = new Set(fields.filter((_, index) => locked[index]).map(({ id }) => id));
      if (isDeepStrictEqual(next, current)) return;
      const moving = [...new Set([...next.keys(), ...current.keys()])].filter(
        (id) => !isDeepStrictEqual(next.get(id), current.get(id)),
      );
      current = next;
      if (round > 2 * fieldsOf(everything).length + 10)
        throw actionFailure(entry, 'form', new FormProblem(`the values of ${moving.join(', ')} keep changing`));
    }
  }

  /** Predicts the values after this `fill`, so most handlers are called only once. */
  function expect(): ReadonlyMap<string, unknown> {
    const settled = shown.length > 0;
    const next = new Map(settled ? current : []);
    const fields = settled ? fieldsOf(shown) : context.elements ? plainFields(context.elements) : [];
    for (const field of fields) {
      const { id, props } = field;
      if (settled ? readOnly.has(id) || computed.get(id)?.value !== undefined : props.isReadOnly) continue;
      if (props.value !== undefined && typeof props.value !== 'function') continue;
      const { value = typeof props.defaultValue === 'function' ? undefined : props.defaultValue } = read(
        field,
        submitted.get(id),
      );
      if (value === undefined) next.delete(id);
      else next.set(id, value);
    }
    return next;
  }

  const present = (): Promise<readonly PresentedField[]> =>
    Promise.all(
      fieldsOf(shown).map(async (field) => {
        const names = ['description', 'isRequired', 'isReadOnly', ...field.options];
        const props = await Promise.all(
          names.map(async (name) => [name, await evaluate(field.props[name], partOf(name, field))] as const),
        );
        return withProblems('form', () => presentField(field, Object.fromEntries(props), zone));
      }),
    );

  const search = async (field: FieldElement, text: string): Promise<readonly Option[]> => {
    const { options } = field.props;
    if (typeof options !== 'function') {
      const wanted = text.toLowerCase();
      return readOptions(options, '').filter(({ label }) => label.toLowerCase().includes(wanted));
    }
    const looking = { formValues: Object.freeze(Object.fromEntries(current)), hasFieldChanged: () => false };
    const part = partOf('options', field);
    const found = await call(options as Handler, part, looking, text);
    return withProblems(part, () => readOptions(found, part));
  };

  async function findFieldProblem(
    presented: PresentedField,
    value: unknown,
    typed: string | undefined,
  ): Promise<string | undefined> {
    const { id, type, options, widget } = presented;
    if (computed.get(id)?.value !== undefined) return undefined;
    const problem = findProblem(presented, value);
    if (problem) return problem;
    if (type === 'Collection') {
      const name = String(options.collectionName);
      const columns = context.engine.keyOf(name);
      if (!columns)
        throw actionFailure(entry, 'form', new FormProblem(`field '${presented.label}': no collection '${name}'`));
      const key = readKey(columns, value as Key);
      return key && (await isVisible(context, name, key)) ? undefined : `send the id of a record of '${name}'`;
    }
    if (widget === 'UserDropdown') {
      const emails = (Array.isArray(value) ? value : [value]).map(String);
      const are = await Promise.all(emails.map((email) => context.engine.isUser(email)));
      const unknownUser = emails[are.indexOf(false)];
      return unknownUser === undefined ? undefined : `send the e-mail address of a user; no user has '${unknownUser}'`;
    }
    const known = options.options as readonly Option[] | undefined;
    const wrong = known && findInvalidOption(value, known);
    if (wrong === undefined) return undefined;
    const field = fieldsOf(shown).find((other) => other.id === id)!;
    if (options.search !== 'dynamic')
      return `send one of ${suggestValues(
        wrong,
        known!.map((option) => option.value as string),
      )}`;
    // Results of a dynamic search are valid too. It runs with the caller's search text and with the value itself.
    const texts = typed === undefined ? [String(wrong)] : [typed, String(wrong)];
    const found = await Promise.all(texts.map((text) => search(field, text)));
    if (findInvalidOption(value, [...known!, ...found.flat()]) === undefined) return undefined;
    return `send one of its options; search for them, and send the search text in 'searches' with the values`;
  }

  /** All problems of the caller's values. `final` also reports values of hidden fields and missing required values. */
  async function findProblems(
    fields: readonly PresentedField[],
    final: boolean,
    searches: Readonly<Record<string, string>>,
  ): Promise<readonly FieldProblem[]> {
    const elements = new Map(fieldsOf(shown).map((field) => [field.id, field]));
    const known = new Map(fieldsOf(roots).map((field) => [field.id, field]));
    const problems = [...submitted].flatMap(([id, value]): FieldProblem[] => {
      const label = known.get(id)?.label ?? id;
      if (value === undefined || elements.has(id)) return [];
      if (known.has(id))
        return final && value !== null ? [{ field: id, label, problem: 'is not shown: leave it out' }] : [];
      const near = suggestNames(id, elements.keys());
      const others = near.length > 0 ? near : [...elements.keys()].slice(0, 10);
      const instead = others.length > 0 ? `send ${others.join(', ')}` : 'the form has no fields';
      return [{ field: id, label, problem: `there is no such field: ${instead}` }];
    });
    const own = await Promise.all(
      fields.map(async (field): Promise<string | undefined> => {
        const value = current.get(field.id);
        const outcome = read(elements.get(field.id)!, submitted.get(field.id));
        if (readOnly.has(field.id)) {
          const same = outcome.value === undefined || outcome.value === null || isDeepStrictEqual(outcome.value, value);
          return same && !outcome.problem ? undefined : 'is read-only: leave it out';
        }
        if (outcome.problem) return outcome.problem;
        if (!isEmpty(value)) return findFieldProblem(field, value, searches[field.id]);
        const offered =
          field.options.enumValues ?? (field.options.options as readonly Option[] | undefined)?.map((o) => o.value);
        const send =
          Array.isArray(offered) && offered.length > 0
            ? `send one of ${suggestValues('', offered)}`
            : expected[field.type];
        return final && field.isRequired ? `is required: ${send}` : undefined;
      }),
    );
    const found = fields.map(({ id, label }, index) => ({ field: id, label, problem: own[index] }));
    return [...problems, ...found.filter((each): each is FieldProblem => each.problem !== undefined)];
  }

  return {
    async fill(values, changedField) {
      const first = submitted.size === 0 && shown.length === 0;
      const before = submitted;
      submitted = new Map(Object.entries(values).filter(([, value]) => value !== undefined));
      const moved = [...new Set([...before.keys(), ...submitted.keys()])].filter(
        (id) => !isDeepStrictEqual(before.get(id), submitted.get(id)),
      );
      changed = new Set([...(first ? [] : moved), ...(changedField === undefined ? [] : [changedField])]);
      // A changed value of the caller stays until the `value` handler of the field runs again.
      for (const id of moved) {
        const known = computed.get(id);
        if (known && !readOnly.has(id)) computed.set(id, { cell: known.cell, value: undefined });
      }
      current = expect();
      await settle();
    },
    async answer() {
      const fields = await present();
      const blocks = blocksOf(shown);
      const texts = await Promise.all(blocks.map(({ props }) => evaluate(props.content, "'content' of a HtmlBlock")));
      const contents = new Map(blocks.map(({ props }, index) => [props, String(texts[index] ?? '')]));
      const problems = await findProblems(fields, false, {});
      const missing = fields.filter(({ id, isRequired }) => isRequired && isEmpty(current.get(id))).map(({ id }) => id);
      const watched = tracker.dependencies();
      const layout = answerLayout(shown, ({ props }) => contents.get(props) ?? '');
      return {
        fields: fields.map((field) => answerField(field, current.get(field.id), watched.has(field.id))),
        values: Object.fromEntries(current),
        ...(layout && { layout }),
        missing,
        problems,
        canExecute: missing.length === 0 && problems.length === 0,
      };
    },
    async submit(searches) {
      const fields = await present();
      const problems = await findProblems(fields, true, searches);
      if (problems.length > 0) fail('INVALID_FORM', { action: entry.name, fields: problems });
      const keys = fields.flatMap(({ id, type, options }) => {
        const columns = type === 'Collection' ? context.engine.keyOf(String(options.collectionName)) : undefined;
        const key = columns && !isEmpty(current.get(id)) && readKey(columns, current.get(id) as Key);
        return key ? [[id, key] as const] : [];
      });
      return Object.freeze({ ...Object.fromEntries(current), ...Object.fromEntries(keys) });
    },
    async searchOptions(id, text) {
      const fields = fieldsOf(shown).filter(({ options }) => options.includes('options'));
      const field = fields.find((other) => other.id === id);
      if (field && field.props.search !== 'static' && field.props.search !== 'dynamic')
        return fail('INVALID_ARGUMENT', {
          argument: 'field',
          problem: `'${id}' has no search: send one of its options. The form has all of them.`,
        });
      if (field) return search(field, text);
      const names = fields.map((other) => other.id).join(', ') || 'none';
      return fail('INVALID_ARGUMENT', {
        argument: 'field',
        problem: `'${id}' has no options. Fields with options: ${names}.`,
      });
    },
  };
}

const partOf = (name: string, { label }: FieldElement): string => `'${name}' of field '${label}'`;
const nameOf = (element: Element): string =>
  element.kind === 'field' ? `field '${element.label}'` : `a ${element.component}`;

/** The fields that are always shown. */
function plainFields(elements: readonly Element[]): readonly FieldElement[] {
  return elements
    .filter(({ props }) => props.if === undefined)
    .flatMap((element) => (element.kind === 'field' ? [element] : plainFields(element.children)));
}

function blocksOf(elements: readonly Element[]): readonly Element[] {
  return elements.flatMap((element) => {
    if (element.kind === 'field') return [];
    return element.component === 'HtmlBlock' ? [element] : blocksOf(element.children);
  });
}

interface Outcome {
  readonly value: unknown;
  readonly problem?: string;
}

/** Caches the values that were read, so a large file is not decoded in every round. */
function createValueReader(zone: string): (field: FieldElement, raw: unknown) => Outcome {
  const known = new Map<string, { readonly type: string; readonly raw: unknown; readonly outcome: Outcome }>();
  return ({ id, type }, raw) => {
    const last = known.get(id);
    if (last && last.raw === raw && last.type === type) return last.outcome;
    const outcome = readOutcome(type, raw, zone);
    known.set(id, { type, raw, outcome });
    return outcome;
  };
}

function readOutcome(type: FieldElement['type'], raw: unknown, zone: string): Outcome {
  if (raw === undefined) return { value: undefined };
  try {
    return { value: readValue(type, raw, zone) };
  } catch (error) {
    if (error instanceof ValueProblem) return { value: undefined, problem: error.message };
    throw error;
  }
}
