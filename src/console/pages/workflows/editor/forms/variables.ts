// The values that a step can take from the run: of other steps, of the record, and of the user.
import { stepOf, type WorkflowDefinition, type WorkflowStep } from '../../../../../workflows/definition/definition.ts';
import type { Option } from '../../../../ui/form.ts';
import type { FormContext } from './part.ts';

/** More fields than these make a list that nobody reads. */
const MAX_FIELDS = 60;

/** The reference, if the text is one and nothing else. */
export const referenceOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? /^\{\{([^{}\s]+)\}\}$/.exec(value)?.[1] : undefined;

export const isTemplate = (text: string): boolean => /\{\{[^{}]*\}\}/.test(text);

function outputsOf(step: WorkflowStep): readonly string[] {
  switch (step.type) {
    case 'read-record':
      return step.fields;
    case 'update-record':
      return Object.keys(step.values);
    case 'condition':
      return ['option'];
    case 'guidance':
      return (step.inputs ?? []).map(({ name }) => name);
    case 'ai':
      return ['answer'];
    case 'load-related-record':
      return ['id'];
    case 'trigger-action':
      return ['message', 'status'];
    case 'mcp':
      return ['text'];
  }
}

/** A dot separates the parts of a reference, so a name with one cannot be referred to. */
const isName = (name: string): boolean => /^[^.{}\s]+$/.test(name);

const userNames = ['email', 'firstName', 'lastName', 'team'];
const userWords: Readonly<Record<string, string>> = {
  email: 'e-mail',
  firstName: 'first name',
  lastName: 'last name',
  team: 'team',
};

/** References with their words: other steps first. */
export function variablesOf({ definition, base, describe }: FormContext): readonly Option[] {
  const others = definition.steps.filter(({ id }) => id !== base.id);
  const names = [
    ...others.flatMap((step) =>
      outputsOf(step)
        .filter(isName)
        .map((name) => `steps.${step.id}.${name}`),
    ),
    ...(describe(definition.collection)?.fields ?? [])
      .map(({ name }) => name)
      .filter(isName)
      .slice(0, MAX_FIELDS)
      .map((name) => `record.${name}`),
    ...userNames.map((name) => `user.${name}`),
    'run.id',
  ];
  return names.map((name): Option => [name, variableWords(definition, name)]);
}

/** `Read the order › total` for `steps.look.total`. */
export function variableWords(definition: WorkflowDefinition, reference: string): string {
  const [root, name = '', member = ''] = reference.split('.');
  if (root === 'record') return `record › ${name}`;
  if (root === 'user') return `user › ${userWords[name] ?? name}`;
  if (root === 'run') return `run › ${name}`;
  const step = stepOf(definition, name);
  return `${step?.title ?? name} › ${member}`;
}
