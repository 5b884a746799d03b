// The parts that several types of steps share.
import { html } from '../../../../../http/html.ts';
import { modes } from '../../../../../workflows/definition/definition.ts';
import { areaField, checkField, field, type Option, selectField } from '../../../../ui/form.ts';
import { titleIn } from '../connections.ts';
import type { DraftStep, FormContext, Part } from './part.ts';
import { oneLine, textFrom } from './part.ts';

const MINUTE = 60;
const units: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, 'days'],
  [3600, 'hours'],
  [MINUTE, 'minutes'],
  [1, 'seconds'],
];

type TextKey = 'title' | 'question' | 'text' | 'prompt' | 'tool';

interface TextPart {
  readonly key: TextKey;
  readonly label: string;
  readonly hint?: (context: FormContext) => string | undefined;
  readonly isLong?: boolean;
  readonly maxLength: number;
  /** What to say if it is empty; absent for a text that may be. */
  readonly missing?: string;
}

export function textPart({ key, label, hint, isLong = false, maxLength, missing }: TextPart): Part {
  return {
    prefix: `text-${key}`,
    fill: (step, set) => set(`text-${key}`, isLong ? (step[key] ?? '') : oneLine(step[key] ?? '')),
    show({ context, form, problem }) {
      const options = {
        ...{ id: `text-${key}`, label, value: form.get(`text-${key}`) ?? '', maxLength },
        ...{ problem: problem(key), hint: hint?.(context) },
      };
      return isLong ? areaField(options) : field(options);
    },
    read({ form, fail }) {
      const text = isLong ? (form.get(`text-${key}`) ?? '') : textFrom(form, `text-${key}`);
      if (text.trim() !== '') return { [key]: text };
      if (missing !== undefined) fail(key, missing);
      return { [key]: missing === undefined ? undefined : '' };
    },
  };
}

export const titlePart: Part = textPart({
  key: 'title',
  label: 'Title',
  maxLength: 191,
  hint: ({ base, isNew }) =>
    isNew || base.title !== undefined ? undefined : `Without a title, its id is shown: ${base.id}.`,
});

/** The end of the run; '' cannot be the id of a step. */
const END = '';
/** What happens without the key. */
const SAME = '-';

type StepKey = 'next' | 'otherwise' | 'onError';

interface NextPart {
  readonly key: StepKey;
  readonly label: string;
  /** What happens without the key; absent if that is the end of the run. */
  readonly same?: string;
  readonly hint?: string;
}

export function stepChoices({ definition, base }: FormContext, same?: string): readonly Option[] {
  const others = definition.steps.filter(({ id }) => id !== base.id);
  return [
    ...(same === undefined ? [] : [[SAME, same] as const]),
    ...others.map(({ id }) => [id, titleIn(definition, id)] as const),
    ...(base.id === undefined || !definition.steps.some(({ id }) => id === base.id)
      ? []
      : [[base.id, `${titleIn(definition, base.id)} (this step again)`] as const]),
    [END, 'End of the run'],
  ];
}

export const fillNext = (next: string | null | undefined, isOptional: boolean): string =>
  next === undefined && isOptional ? SAME : (next ?? END);

export const readNext = (text: string): string | null | undefined =>
  text === SAME ? undefined : text === END ? null : text;

export function nextPart({ key, label, same, hint }: NextPart): Part {
  const name = `to-${key}`;
  return {
    prefix: name,
    fill(step, set) {
      const next = step[key];
      const isNext = typeof next === 'string' || next === null || next === undefined;
      set(name, isNext ? fillNext(next, same !== undefined) : END);
    },
    show: ({ context, form, problem }) =>
      selectField({
        ...{ id: name, label, value: form.get(name) ?? END, options: stepChoices(context, same) },
        ...{ hint, problem: problem(key) },
      }),
    read({ form }) {
      const next = readNext(form.get(name) ?? END);
      return { [key]: key === 'next' && next === null ? undefined : next };
    },
  };
}

export const followPart: Part = nextPart({ key: 'next', label: 'Next step' });

const modeWords: Readonly<Record<(typeof modes)[number], string>> = {
  automatic: 'The server does it',
  confirm: 'The server prepares it, and a person confirms',
  manual: 'A person does it',
};

/** The first mode is the default. */
export function modePart(allowed: readonly (typeof modes)[number][]): Part {
  return {
    prefix: 'mode',
    fill: (step, set) => set('mode', step.mode ?? allowed[0]!),
    show: ({ form, problem }) =>
      selectField({
        ...{ id: 'mode', label: 'Who does it', value: form.get('mode') ?? allowed[0]!, problem: problem('mode') },
        options: allowed.map((mode) => [mode, modeWords[mode]] as const),
      }),
    read: ({ form }) => ({ mode: modes.find((mode) => mode === form.get('mode')) }),
  };
}

export const recordPart: Part = {
  prefix: 'of-record',
  fill: (step, set) => set('of-record', step.record ?? ''),
  show({ context, form, problem }) {
    const { definition, base } = context;
    const loading = definition.steps.filter(({ type, id }) => type === 'load-related-record' && id !== base.id);
    if (loading.length === 0 && base.record === undefined) return html``;
    return selectField({
      ...{ id: 'of-record', label: 'Record', value: form.get('of-record') ?? '', problem: problem('record') },
      hint: 'After changing this, press “Update the form”.',
      options: [
        ['', 'The record of the run'],
        ...loading.map(({ id }) => [id, `The record of “${titleIn(definition, id)}”`] as const),
      ],
    });
  },
  read: ({ form }) => ({ record: form.get('of-record') || undefined }),
};

export const waitPart: Part = {
  prefix: 'wait',
  fill(step: DraftStep, set) {
    const { waitSeconds } = step;
    const [seconds] = units.find(([each]) => (waitSeconds ?? 0) % each === 0)!;
    if (waitSeconds !== undefined) set('wait-count', `${waitSeconds / seconds}`);
    set('wait-unit', `${seconds}`);
  },
  show({ form, problem }) {
    const options = units.map(([seconds, name]) => [`${seconds}`, name] as const);
    const isOpen = textFrom(form, 'wait-count') !== '' || problem('waitSeconds') !== undefined;
    return html`<details class="more"${isOpen && html` open`}><summary>Time to answer</summary><div class="two">${field(
      {
        ...{ id: 'wait-count', label: 'A person has', value: form.get('wait-count') ?? '', maxLength: 8 },
        ...{ hint: 'Empty: seven days. Then the run fails.', problem: problem('waitSeconds') },
      },
    )}${selectField({ id: 'wait-unit', label: 'Unit', value: form.get('wait-unit') ?? '86400', options })}</div></details>`;
  },
  read({ form, fail }) {
    const text = textFrom(form, 'wait-count');
    if (text === '') return { waitSeconds: undefined };
    const seconds = Number(text) * Number(form.get('wait-unit'));
    if (!Number.isInteger(seconds) || seconds < MINUTE || seconds > 30 * 86_400) {
      fail('waitSeconds', 'Enter a time from 1 minute to 30 days.');
      return {};
    }
    return { waitSeconds: seconds };
  },
};

export const allowChangesPart: Part = {
  prefix: 'allow-changes',
  fill: (step, set) => step.allowChanges && set('allow-changes', 'yes'),
  show: ({ form }) =>
    checkField({
      ...{ id: 'allow-changes', name: 'allow-changes', checked: form.get('allow-changes') === 'yes' },
      label: 'Also call a tool that may change data',
      hint: 'Then no person confirms the call of a tool that the server does not declare as read-only or non-destructive.',
    }),
  read: ({ form }) => ({ allowChanges: form.get('allow-changes') === 'yes' || undefined }),
};
