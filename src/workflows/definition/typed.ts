// Converts values entered by a person or a model to the type in the definition.
import { fail } from '../../core/errors.ts';
import { isExact, losesPrecision } from '../../core/filter/exact-numbers.ts';
import type { AnswerType } from './definition.ts';

/** Throws INVALID_ARGUMENT with the expected type. Web pages send text, so numbers and booleans may be strings. */
export function parseTypedValue(answer: AnswerType, input: unknown, argument: string): string | number | boolean {
  const failValue = (problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });
  if (answer.type === 'text') {
    const { maxLength = 10_000 } = answer;
    if (typeof input !== 'string' || input === '' || input.length > maxLength) {
      return failValue(`expected 1 to ${maxLength} characters.`);
    }
    return input;
  }
  if (answer.type === 'enum') {
    if (answer.options.includes(input as string)) return input as string;
    return failValue(`expected one of ${answer.options.join(', ')}.`);
  }
  if (answer.type === 'boolean') {
    const parsedBoolean = { true: true, yes: true, on: true, false: false, no: false, off: false }[String(input)];
    return parsedBoolean ?? failValue('expected true or false.');
  }
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = answer;
  if (losesPrecision(input) || (typeof input === 'string' && !isExact(input)))
    return failValue('expected a number of at most 15 digits.');
  const number = typeof input === 'string' && input.trim() !== '' ? Number(input) : input;
  if (typeof number === 'number' && Number.isFinite(number) && number >= min && number <= max) return number;
  return failValue(`expected a number${describeBounds(answer)}.`);
}

function describeBounds({ min, max }: Extract<AnswerType, { type: 'number' }>): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return ` of ${min} or more`;
  return max === undefined ? '' : ` of ${max} or less`;
}

/** JSON Schema of an answer, for a model. */
export function toJsonSchema(answer: AnswerType): Readonly<Record<string, unknown>> {
  if (answer.type === 'text') return { type: 'string' };
  if (answer.type === 'boolean') return { type: 'boolean' };
  return answer.type === 'enum' ? { type: 'string', enum: answer.options } : { type: 'number' };
}
