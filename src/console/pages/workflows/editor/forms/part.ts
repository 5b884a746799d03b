// Building blocks of a step's form. A part edits some keys of a step. Its controls share a prefix. `fill` gives the
// values that the controls show for a step, and the page always shows such values: those of the step, or the submitted
// ones. If the submitted values are those of the step, its keys stay as they are: a form cannot damage what its controls
// show only roughly.
import type { Access } from '../../../../../core/caller.ts';
import { type Html, html, visibleText } from '../../../../../http/html.ts';
import type { WorkflowDefinition, WorkflowStep } from '../../../../../workflows/definition/definition.ts';
import type { InputRequestField } from '../../../../../workflows/input-requests/fields.ts';
import type { Tool } from '../../../../../workflows/remote-mcp/client.ts';
import type { Describe } from '../../../../ui/filter/fields.ts';

type KeyOf<S> = S extends WorkflowStep ? keyof S : never;
type ValueOf<S, K> = S extends WorkflowStep ? (K extends keyof S ? S[K] : never) : never;

/** A step of any type, possibly incomplete. */
export type DraftStep = { readonly [K in KeyOf<WorkflowStep>]?: ValueOf<WorkflowStep, K> } & Pick<WorkflowStep, 'type'>;

/** What the parts of a form need to know. */
export interface FormContext {
  readonly definition: WorkflowDefinition;
  /** The stored step that the form changes. */
  readonly base: DraftStep;
  readonly isNew: boolean;
  readonly access: Access;
  readonly describe: Describe;
  /** The collection of the record that the step uses. */
  readonly collection: string;
  /** Fields of the forms of actions, by action. */
  readonly actionFields: ReadonlyMap<string, readonly InputRequestField[]>;
  readonly actions: readonly string[];
  /** Names of the remote servers. */
  readonly servers: readonly string[];
  /** Tools of the chosen remote server, or why they cannot be shown. Undefined until they are loaded. */
  readonly tools: readonly Tool[] | string | undefined;
  /** Controls of foreign keys, which choose a record by name. */
  readonly lookups: ReadonlyMap<string, Html>;
  /** How many records match an option, by the number of the option. */
  readonly counts: ReadonlyMap<number, Html>;
}

export interface FormView {
  readonly context: FormContext;
  readonly form: URLSearchParams;
  /** The problem of a key, such as `values` or `options.1.when`, or of one within it. */
  readonly problem: (path: string) => string | undefined;
}

interface ReadView {
  readonly context: FormContext;
  readonly form: URLSearchParams;
  readonly fail: (path: string, problem: string) => void;
}

/** New values by key; undefined removes the key. */
type Changes = { readonly [K in keyof DraftStep]?: DraftStep[K] | undefined };

type SetValue = (name: string, value: string) => void;

export interface Part {
  /** Starts the names of its controls. */
  readonly prefix: string;
  readonly fill: (step: DraftStep, set: SetValue, context: FormContext) => void;
  readonly show: (view: FormView) => Html;
  readonly read: (view: ReadView) => Changes;
}

export function fillForm(parts: readonly Part[], step: DraftStep, context: FormContext): URLSearchParams {
  const form = new URLSearchParams();
  const set: SetValue = (name, value) => form.append(visibleText(name), visibleText(value));
  for (const part of parts) part.fill(step, set, context);
  return form;
}

export const showForm = (parts: readonly Part[], view: FormView): Html => html`${parts.map((part) => part.show(view))}`;

/** The step with the submitted changes. Keys without a part stay. */
export function readForm(
  parts: readonly Part[],
  submitted: URLSearchParams,
  context: FormContext,
  fail: ReadView['fail'],
): DraftStep {
  const { base, isNew } = context;
  const shown = fillForm(parts, base, context);
  const form = normalForm(submitted);
  const step: Record<string, unknown> = { ...base };
  for (const { prefix, read } of parts) {
    if (!isNew && isUnchanged(form, shown, prefix)) continue;
    for (const [key, value] of Object.entries(read({ context, form, fail }))) {
      if (value === undefined) delete step[key];
      else step[key] = value;
    }
  }
  return step as DraftStep;
}

/** Browsers send line breaks as CRLF. */
function normalForm(form: URLSearchParams): URLSearchParams {
  const normal = new URLSearchParams();
  const lines = (text: string) => text.replace(/\r\n?/g, '\n');
  for (const [name, value] of form) normal.append(lines(name), lines(value));
  return normal;
}

/** Whether the controls with the prefix show the same. An empty control is like none. */
export function isUnchanged(form: URLSearchParams, shown: URLSearchParams, prefix: string): boolean {
  const textOf = (all: URLSearchParams) => {
    const own = [...all].filter(([name, value]) => name.startsWith(prefix) && value !== '');
    return JSON.stringify(own.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  };
  return textOf(form) === textOf(shown);
}

/** The value of a control with one line. Browsers remove line breaks from it. */
export const oneLine = (text: string): string => text.replace(/[\r\n]/g, '');

export const textFrom = (form: URLSearchParams, name: string): string => (form.get(name) ?? '').trim();

/** Names of the rows of a list: `o.0.`, `o.1.` and so on, as long as the form has a control `mark` for them. */
export function rowsIn(form: URLSearchParams, letter: string, most: number): readonly string[] {
  const rows: string[] = [];
  while (rows.length < most && form.has(`${letter}.${rows.length}.mark`)) rows.push(`${letter}.${rows.length}.`);
  return rows;
}

/** The form with the rows of a list in another order. Rows that are not named are removed. */
export function reorder(form: URLSearchParams, letter: string, order: readonly number[]): URLSearchParams {
  const next = new URLSearchParams();
  for (const [name, value] of form) {
    const [, number, rest] = new RegExp(`^${letter}\\.(\\d+)\\.(.*)$`, 's').exec(name) ?? [];
    if (number === undefined) next.append(name, value);
    else if (order.includes(Number(number))) next.append(`${letter}.${order.indexOf(Number(number))}.${rest}`, value);
  }
  return next;
}
