// The type of an answer of a person or a model, and the inputs of a task.
import { type Html, html, visibleText } from '../../../../../http/html.ts';
import type { AnswerType, StepOf } from '../../../../../workflows/definition/definition.ts';
import { parseTypedValue } from '../../../../../workflows/definition/typed.ts';
import { areaField, checkField, field, selectField } from '../../../../ui/form.ts';
import { createId } from '../connections.ts';
import { isUnchanged, oneLine, type Part, rowsIn, textFrom } from './part.ts';

const answerWords: Readonly<Record<AnswerType['type'], string>> = {
  text: 'Text',
  number: 'Number',
  boolean: 'Yes or no',
  enum: 'One of some choices',
};
type SetText = (name: string, value: string) => void;
const answerTypes = Object.entries(answerWords) as readonly (readonly [AnswerType['type'], string])[];

const typeIn = (form: URLSearchParams, prefix: string): AnswerType['type'] =>
  answerTypes.find(([type]) => type === form.get(`${prefix}type`))?.[0] ?? 'text';

function fillAnswer(answer: AnswerType, prefix: string, set: SetText): void {
  set(`${prefix}type`, answer.type);
  const number = (name: string, value: number | undefined) =>
    value !== undefined && set(`${prefix}${name}`, `${value}`);
  if (answer.type === 'text') number('length', answer.maxLength);
  if (answer.type === 'number') {
    number('min', answer.min);
    number('max', answer.max);
  }
  if (answer.type === 'enum') set(`${prefix}choices`, answer.options.join('\n'));
}

function showAnswer(form: URLSearchParams, prefix: string, label: string, problem: string | undefined): Html {
  const type = typeIn(form, prefix);
  const text = (name: string, label: string) =>
    field({ id: `${prefix}${name}`, label, value: form.get(`${prefix}${name}`) ?? '', maxLength: 30 });
  return html`${selectField({ id: `${prefix}type`, label, value: type, options: answerTypes, problem })}
${type === 'text' && text('length', 'Maximum number of characters (optional)')}
${type === 'number' && html`<div class="two">${text('min', 'At least (optional)')}${text('max', 'At most (optional)')}</div>`}
${(type === 'enum' || form.has(`${prefix}choices`)) && areaField({ id: `${prefix}choices`, label: 'Choices', value: form.get(`${prefix}choices`) ?? '', hint: 'One per line, at least two.' })}`;
}

function readAnswer(form: URLSearchParams, prefix: string, fail: (problem: string) => void): AnswerType {
  const type = typeIn(form, prefix);
  const number = (name: string): number | undefined => {
    const text = textFrom(form, `${prefix}${name}`);
    if (text !== '' && !Number.isFinite(Number(text))) fail('Enter numbers.');
    return text === '' ? undefined : Number(text);
  };
  if (type === 'text') {
    const maxLength = number('length');
    return { type, ...(maxLength !== undefined && { maxLength }) };
  }
  if (type === 'number') {
    const [min, max] = [number('min'), number('max')];
    return { type, ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
  }
  if (type === 'boolean') return { type };
  const lines = (form.get(`${prefix}choices`) ?? '').split('\n').map((line) => line.trim());
  const options = [...new Set(lines.filter(Boolean))];
  if (options.length < 2) fail('Enter at least two choices, one per line.');
  return { type, options };
}

export const answerPart: Part = {
  prefix: 'answer',
  fill: (step, set) => step.answer && fillAnswer(step.answer, 'answer-', set),
  show: ({ form, problem }) => showAnswer(form, 'answer-', 'Answer', problem('answer')),
  read: ({ form, fail }) => ({ answer: readAnswer(form, 'answer-', (text) => fail('answer', text)) }),
};

/** The answer of an `ai` step if there is no model. */
export const otherwiseAnswerPart: Part = {
  prefix: 'without-model',
  fill({ otherwise }, set) {
    if (otherwise === undefined) return;
    set('without-model', otherwise === null ? 'null' : 'value');
    if (otherwise !== null)
      set('without-model-value', typeof otherwise === 'string' ? oneLine(otherwise) : JSON.stringify(otherwise));
  },
  show: ({ form, problem }) =>
    html`<div class="two">${selectField({
      ...{ id: 'without-model', label: 'Without a language model', value: form.get('without-model') ?? '' },
      options: [
        ['', 'A person answers'],
        ['value', 'Use this answer'],
        ['null', 'Use no answer'],
      ],
    })}${field({ id: 'without-model-value', label: 'Answer to use', value: form.get('without-model-value') ?? '', maxLength: 10_000, problem: problem('otherwise') })}</div>`,
  read({ form, fail }) {
    const source = form.get('without-model');
    if (source !== 'value') return { otherwise: source === 'null' ? null : undefined };
    try {
      const answer = readAnswer(form, 'answer-', () => undefined);
      return { otherwise: parseTypedValue(answer, form.get('without-model-value') ?? '', 'otherwise') };
    } catch (error) {
      fail('otherwise', (error as { readonly details: { readonly problem: string } }).details.problem);
      return {};
    }
  },
};

type TaskInput = NonNullable<StepOf<'guidance'>['inputs']>[number];

const MAX_INPUTS = 20;

/** `mark`: the position of the stored input; '' for a new one. */
function fillInput(
  { name, label, required = true, answer }: TaskInput,
  mark: string,
  prefix: string,
  set: SetText,
): void {
  set(`${prefix}mark`, mark);
  set(`${prefix}label`, oneLine(label ?? name));
  if (required) set(`${prefix}required`, 'yes');
  fillAnswer(answer, `${prefix}a-`, set);
}

export const inputsPart: Part = {
  prefix: 'i.',
  fill({ inputs = [] }, set) {
    for (const [at, input] of inputs.entries()) fillInput(input, `${at}`, `i.${at}.`, set);
  },
  show({ form, problem }) {
    const rows = rowsIn(form, 'i', MAX_INPUTS).map((prefix, at) => {
      const text = (name: string) => form.get(prefix + name) ?? '';
      return html`<fieldset class="wf-part"><legend>Input ${at + 1}</legend><input type="hidden" name="${prefix}mark" value="${text('mark')}">
${field({ id: `${prefix}label`, label: 'Label', value: text('label'), maxLength: 191, problem: problem(`inputs.${at}`) })}
${showAnswer(form, `${prefix}a-`, 'Type', undefined)}
${checkField({ id: `${prefix}required`, name: `${prefix}required`, label: 'Required', checked: text('required') === 'yes' })}
<button class="plain slim" name="action" value="remove-i:${at}" formnovalidate aria-label="Remove input ${at + 1}">Remove</button></fieldset>`;
    });
    return html`<fieldset class="wf-set"><legend>What the person enters</legend><p class="hint">Later steps can use these values.</p>${rows}
<div class="fb-tools"><button class="plain slim" name="action" value="add-i" formnovalidate>Add an input</button></div></fieldset>`;
  },
  read({ context, form, fail }) {
    const old = context.base.inputs ?? [];
    const inputs: TaskInput[] = [];
    for (const [at, prefix] of rowsIn(form, 'i', MAX_INPUTS).entries()) {
      const failAt = (problem: string) => fail(`inputs.${at}`, problem);
      const mark = form.get(`${prefix}mark`) ?? '';
      const base = mark === '' ? undefined : old[Number(mark)];
      const shown = new URLSearchParams();
      if (base) fillInput(base, mark, prefix, (name, value) => shown.append(name, visibleText(value)));
      if (base && isUnchanged(form, shown, prefix)) {
        inputs.push(base);
        continue;
      }
      const label = textFrom(form, `${prefix}label`);
      if (label === '') failAt('Enter a label.');
      const taken = [...old, ...inputs].map(({ name }) => name);
      const isRequired = form.get(`${prefix}required`) === 'yes';
      const { label: oldLabel, required: wasRequired, ...rest } = base ?? {};
      const isSameLabel = base !== undefined && label === textFrom(shown, `${prefix}label`);
      const nextLabel = isSameLabel ? oldLabel : label;
      inputs.push({
        ...rest,
        name: base?.name ?? createId(label, taken, 'input'),
        ...(nextLabel !== undefined && nextLabel !== '' && { label: nextLabel }),
        ...((!isRequired || wasRequired === true) && { required: isRequired }),
        answer: base && isUnchanged(form, shown, `${prefix}a-`) ? base.answer : readAnswer(form, `${prefix}a-`, failAt),
      });
    }
    return { inputs: inputs.length > 0 ? inputs : undefined };
  },
};
