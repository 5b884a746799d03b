// The parts of each type of step, and the changes of a form that its buttons make.
import type { WorkflowStep } from '../../../../../workflows/definition/definition.ts';
import { formFields } from '../../../data/form.ts';
import { answerPart, inputsPart, otherwiseAnswerPart } from './answer-part.ts';
import { optionsPart } from './condition-part.ts';
import { type DraftStep, type Part, reorder, rowsIn } from './part.ts';
import {
  allowChangesPart,
  followPart,
  modePart,
  nextPart,
  recordPart,
  textPart,
  titlePart,
  waitPart,
} from './parts.ts';
import { fieldsPart, relatedFilterPart, relationPart, sortPart } from './record-parts.ts';
import { actionPart, argumentsPart, serverPart, toolPart } from './tool-parts.ts';
import { changeValues, valuesPart } from './values.ts';

const TEXT_HINT = 'May contain values of the run, such as {{record.id}}.';

const recordValues = valuesPart({
  legend: 'New values',
  hint: `A value is fixed, or comes from the run. Texts may contain values of the run, such as {{record.id}}.`,
  add: 'Add a field',
  fields({ describe, collection }) {
    const described = describe(collection);
    return described ? formFields(described, undefined) : [];
  },
  isRequired: true,
});

const actionValues = valuesPart({
  legend: 'Values of its form',
  hint: 'A person is asked for missing values.',
  add: 'Add a value',
  fields: ({ actionFields, base }, form) =>
    (actionFields.get((form ? form.get('choice-action') : base.action) ?? '') ?? []).filter(
      ({ type }) => type !== 'file' && type !== 'files',
    ),
  isRequired: false,
});

const questionPart = textPart({
  ...{ key: 'question', label: 'Question (optional)', isLong: true, maxLength: 2000 },
  hint: () => `For a person, or for the language model if no option has conditions. ${TEXT_HINT}`,
});

/** The parts between the title and the next step. */
const parts: Readonly<Record<WorkflowStep['type'], readonly Part[]>> = {
  condition: [
    ...[recordPart, modePart(['automatic', 'confirm', 'manual']), questionPart, optionsPart],
    nextPart({ key: 'next', label: 'Next step', hint: 'Of options that lead to “the next step below”.' }),
    waitPart,
  ],
  'read-record': [recordPart, fieldsPart, followPart],
  'update-record': [recordPart, modePart(['confirm', 'automatic', 'manual']), recordValues, followPart, waitPart],
  'trigger-action': [
    ...[recordPart, modePart(['confirm', 'automatic', 'manual']), actionPart, actionValues],
    ...[followPart, waitPart],
  ],
  'load-related-record': [
    ...[
      recordPart,
      modePart(['automatic', 'confirm', 'manual']),
      relationPart,
      relatedFilterPart,
      sortPart,
      followPart,
    ],
    nextPart({ key: 'otherwise', label: 'If there is no such record', same: 'The next step' }),
    waitPart,
  ],
  mcp: [
    ...[modePart(['confirm', 'automatic']), serverPart],
    ...[toolPart, argumentsPart, allowChangesPart, followPart],
    nextPart({ key: 'onError', label: 'If the tool reports an error', same: 'The run fails' }),
    waitPart,
  ],
  guidance: [
    textPart({
      ...{ key: 'text', label: 'Task', isLong: true, maxLength: 10_000, missing: 'Describe the task.' },
      hint: () => TEXT_HINT,
    }),
    ...[inputsPart, followPart, waitPart],
  ],
  ai: [
    modePart(['automatic', 'confirm', 'manual']),
    textPart({
      ...{ key: 'prompt', label: 'Question', isLong: true, maxLength: 10_000, missing: 'Enter the question.' },
      hint: () => TEXT_HINT,
    }),
    ...[answerPart, otherwiseAnswerPart, followPart, waitPart],
  ],
};

export const partsOf = ({ type }: Pick<DraftStep, 'type'>): readonly Part[] => [titlePart, ...parts[type]];

/** A step that its form completes. Options without an id get one from their label. */
export function blankStep(type: WorkflowStep['type'], next: string | null): DraftStep {
  const about = { id: '', type, ...(next !== null && { next }) };
  if (type === 'condition')
    return {
      ...about,
      options: [
        { id: '', label: '' },
        { id: '', label: 'Otherwise' },
      ],
    };
  if (type === 'ai') return { ...about, answer: { type: 'text' } };
  return type === 'update-record' ? { ...about, values: {} } : about;
}

/** The lists of rows, by the letter that starts the names of their controls. */
const lists: readonly (readonly [letter: string, most: number])[] = [
  ['o', 20],
  ['i', 20],
  ['a', 50],
];

/** The form after the pressed button: with an added, removed or moved row. */
export function changeForm(submitted: URLSearchParams): URLSearchParams {
  let form = changeValues(submitted);
  const [, verb, letter, number] = /^(add|remove|up)-([oia])(?::(\d+))?$/.exec(submitted.get('action') ?? '') ?? [];
  const list = lists.find(([each]) => each === letter);
  if (!list) return form;
  const [name, most] = list;
  const order = rowsIn(form, name, most).map((_, at) => at);
  const at = Number(number);
  if (verb === 'add' && order.length < most) {
    form = new URLSearchParams(form);
    form.append(`${name}.${order.length}.mark`, '');
    if (name === 'o') form.append(`o.${order.length}.w.match`, 'And');
    if (name === 'i') form.append(`i.${order.length}.required`, 'yes');
  }
  if (verb === 'remove')
    return reorder(
      form,
      name,
      order.filter((each) => each !== at),
    );
  if (verb === 'up' && at > 0 && at < order.length) {
    const moved = order.filter((each) => each !== at);
    moved.splice(at - 1, 0, at);
    return reorder(form, name, moved);
  }
  return form;
}
