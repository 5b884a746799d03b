// Parts of steps that call something: the action with its values, and the tool of a remote server with its arguments.
import { html, visibleText } from '../../../../../http/html.ts';
import { readJsonFilter } from '../../../../ui/filter/form.ts';
import { areaField, field, type Option, selectField } from '../../../../ui/form.ts';
import { type FormContext, isUnchanged, oneLine, type Part, rowsIn, textFrom } from './part.ts';
import { textPart } from './parts.ts';

/** A select of names; a name that is not known stays. */
function choicePart(key: 'action' | 'server', label: string, missing: string, hint?: string): Part {
  const name = `choice-${key}`;
  return {
    prefix: name,
    fill: (step, set) => set(name, step[key] ?? ''),
    show({ context, form, problem }) {
      const names = key === 'action' ? context.actions : context.servers;
      const value = form.get(name) ?? '';
      const known = value === '' || names.includes(value) ? names : [value, ...names];
      const options: readonly Option[] = [['', 'Choose'], ...known.map((each): Option => [each, each])];
      return selectField({ id: name, label, value, options, hint, problem: problem(key) });
    },
    read({ form, fail }) {
      const chosen = form.get(name) ?? '';
      if (chosen === '') fail(key, missing);
      return { [key]: chosen };
    },
  };
}

export const actionPart = choicePart(
  'action',
  'Action',
  'Choose an action.',
  'To enter its values, press “Update the form” after changing this.',
);

export const serverPart = choicePart('server', 'Remote server', 'Choose a server.', 'An administrator adds servers.');

const kinds = { text: 'Text', number: 'Number', boolean: 'Yes or no', null: 'No value', json: 'JSON' } as const;
type Kind = keyof typeof kinds;

const kindOf = (value: unknown): Kind => {
  if (value === null) return 'null';
  if (typeof value === 'string') return 'text';
  return typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : 'json';
};

const MAX_ARGUMENTS = 50;

/** `mark`: the position of the stored argument; '' for a new one. */
const fillArgument = (
  [name, value]: readonly [string, unknown],
  mark: string,
  prefix: string,
  set: (name: string, value: string) => void,
): void => {
  const kind = kindOf(value);
  set(`${prefix}mark`, mark);
  set(`${prefix}name`, oneLine(name));
  set(`${prefix}kind`, kind);
  if (kind !== 'null') set(`${prefix}text`, kind === 'json' ? JSON.stringify(value, null, 2) : String(value));
};

function readArgument(kind: string | null, text: string): { readonly value?: unknown; readonly problem?: string } {
  if (kind === 'null') return { value: null };
  if (kind === 'boolean') {
    const value = { yes: true, true: true, no: false, false: false }[text.trim().toLowerCase()];
    return value === undefined ? { problem: 'Enter yes or no.' } : { value };
  }
  if (kind === 'number')
    return text.trim() !== '' && Number.isFinite(Number(text))
      ? { value: Number(text) }
      : { problem: 'Enter a number.' };
  if (kind !== 'json') return { value: text };
  const read = readJsonFilter(`{"value":${text}}`);
  return 'filter' in read && read.filter
    ? { value: (read.filter as { value?: unknown }).value }
    : { problem: 'Enter JSON.' };
}

const typedTool = textPart({ key: 'tool', label: 'Tool', maxLength: 191, missing: 'Enter the name of the tool.' });

/** The name is typed, or chosen from the tools of the server, with the arguments that the tool requires. */
export const toolPart: Part = {
  ...typedTool,
  show(view) {
    const { context, form, problem } = view;
    const { tools } = context;
    const value = form.get('text-tool') ?? '';
    const names = typeof tools === 'object' ? tools.map(({ name }) => name) : [];
    const options = ['', ...(names.includes(value) || value === '' ? [] : [value]), ...names];
    const { description } = findTool(context, form) ?? {};
    const hint = description === undefined ? undefined : visibleText(description.slice(0, 500));
    const control =
      names.length > 0
        ? selectField({
            ...{ id: 'text-tool', label: 'Tool', value, hint, problem: problem('tool') },
            options: options.map((name): Option => [name, name === '' ? 'Choose' : visibleText(name)]),
          })
        : typedTool.show(view);
    const none = typeof tools === 'object' ? 'The server has no tool that workflows may call.' : tools;
    return html`${control}${names.length === 0 && none !== undefined && html`<p class="note" role="alert">${none}</p>`}
<div class="field"><button class="plain slim" name="action" value="load-tools" formnovalidate>${names.length > 0 ? 'Show the arguments of the tool' : 'Load the tools of the server'}</button></div>`;
  },
};

const findTool = ({ tools }: FormContext, form: URLSearchParams) =>
  typeof tools === 'object' ? tools.find(({ name }) => name === form.get('text-tool')) : undefined;

const kindsOfTypes: Readonly<Record<string, Kind>> = {
  ...{ string: 'text', number: 'number', integer: 'number', boolean: 'boolean', null: 'null' },
};

interface KnownArgument {
  readonly name: string;
  readonly kind: Kind;
  readonly isRequired: boolean;
}

/** The arguments of the chosen tool that have no row yet. */
function missingArguments(context: FormContext, form: URLSearchParams): readonly KnownArgument[] {
  const { properties = {}, required = [] } = findTool(context, form)?.inputSchema ?? {};
  const named = rowsIn(form, 'a', MAX_ARGUMENTS).map((prefix) => form.get(`${prefix}name`));
  return Object.entries(properties).flatMap(([name, schema]) => {
    const { type } = (schema ?? {}) as { readonly type?: unknown };
    const kind = (typeof type === 'string' && kindsOfTypes[type]) || 'json';
    return named.includes(name) ? [] : [{ name, kind, isRequired: required.includes(name) }];
  });
}

/** The form with a row for each argument that the chosen tool requires. */
function withRequired(context: FormContext, form: URLSearchParams): URLSearchParams {
  const full = new URLSearchParams(form);
  const at = rowsIn(form, 'a', MAX_ARGUMENTS).length;
  const required = missingArguments(context, form).filter(({ isRequired }) => isRequired);
  for (const [index, { name, kind }] of required.slice(0, MAX_ARGUMENTS - at).entries()) {
    const row = { mark: '', name: oneLine(visibleText(name)), kind, text: '' };
    for (const [key, value] of Object.entries(row)) full.append(`a.${at + index}.${key}`, value);
  }
  return full;
}

export const argumentsPart: Part = {
  prefix: 'a.',
  fill({ arguments: given = {} }, set) {
    for (const [at, argument] of Object.entries(given).entries()) fillArgument(argument, `${at}`, `a.${at}.`, set);
  },
  show({ context, form: given, problem }) {
    const form = withRequired(context, given);
    const more = missingArguments(context, form).map(({ name, kind }) => `${visibleText(name)} (${kinds[kind]})`);
    const rows = rowsIn(form, 'a', MAX_ARGUMENTS).map((prefix, at) => {
      const name = form.get(`${prefix}name`) ?? '';
      const text = form.get(`${prefix}text`) ?? '';
      return html`<fieldset class="wf-part"><legend>Argument ${at + 1}</legend><input type="hidden" name="${prefix}mark" value="${form.get(`${prefix}mark`)}"><div class="two">${field({ id: `${prefix}name`, label: 'Name', value: name, maxLength: 191, problem: problem(`arguments.${at}`) })}${selectField({ id: `${prefix}kind`, label: 'Type', value: form.get(`${prefix}kind`) ?? 'text', options: Object.entries(kinds) })}</div>
${areaField({ id: `${prefix}text`, label: 'Value', value: text, rows: Math.min(10, text.split('\n').length) })}
<button class="plain slim" name="action" value="remove-a:${at}" formnovalidate aria-label="Remove argument ${at + 1}">Remove</button></fieldset>`;
    });
    const wrong = rows.some((_, at) => problem(`arguments.${at}`)) ? undefined : problem('arguments');
    return html`<fieldset class="wf-set"><legend>Arguments of the tool</legend>${wrong !== undefined && html`<p class="note" role="alert">${wrong}</p>`}
<p class="quietly">A text may contain values of the run, such as {{record.id}}.${more.length > 0 && html` Optional: ${more.slice(0, 30).join(', ')}.`}</p>${rows}
<div class="fb-tools"><button class="plain slim" name="action" value="add-a" formnovalidate>Add an argument</button></div></fieldset>`;
  },
  read({ context, form, fail }) {
    const old: readonly (readonly [string, unknown])[] = Object.entries(context.base.arguments ?? {});
    const values = rowsIn(form, 'a', MAX_ARGUMENTS).flatMap((prefix, at): readonly (readonly [string, unknown])[] => {
      const mark = form.get(`${prefix}mark`) ?? '';
      const base = mark === '' ? undefined : old[Number(mark)];
      const shown = new URLSearchParams();
      if (base) fillArgument(base, mark, prefix, (key, value) => shown.append(key, visibleText(value)));
      if (base && isUnchanged(form, shown, prefix)) return [base];
      const isSameName = base && isUnchanged(form, shown, `${prefix}name`);
      const name = isSameName ? base[0] : textFrom(form, `${prefix}name`);
      const { value, problem } = readArgument(form.get(`${prefix}kind`), form.get(`${prefix}text`) ?? '');
      if (name === '') fail(`arguments.${at}`, 'Enter a name.');
      if (problem !== undefined) fail(`arguments.${at}`, problem);
      return [[name, value]];
    });
    return { arguments: values.length > 0 ? (Object.fromEntries(values) as never) : undefined };
  },
};
