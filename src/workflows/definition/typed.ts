// Converts values entered by a person or a model to the type in the definition.
import { fail } from '../../core/errors.ts';
import { isExact } from '../../core/filter/exact-numbers.ts';
import type { TypedAnswer } from './definition.ts';

/** Throws INVALID_ARGUMENT with the expected type. Web pages send text, so numbers and booleans may be strings. */
export function readTyped(answer: TypedAnswer, given: unknown, argument: string): string | number | boolean {
  const wrong = (problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });
  if (answer.type === 'text') {
    const { maxLength = 10_000 } = answer;
    if (typeof given !== 'string' || given === '' || given.length > maxLength) {
      return wrong(`expected a text of 1 to ${maxLength} characters.`);
    }
    return given;
  }
  if (answer.type === 'enum') {
    if (answer.options.includes(given as string)) return given as string;
    return wrong(`expected one of ${answer.options.join(', ')}.`);
  }
  if (answer.type === 'boolean') {
    const truth = { true: true, yes: true, on: true, false: false, no: false, off: false }[String(given)];
    return truth ?? wrong('expected true or false.');
  }
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = answer;
  if (typeof given === 'string' && !isExact(given)) return wrong('expected a number of at most 15 digits.');
  const number = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
  if (typeof number === 'number' && Number.isFinite(number) && number >= min && number <= max) return number;
  return wrong(`expected a number${boundsOf(answer)}.`);
}

function boundsOf({ min, max }: Extract<TypedAnswer, { type: 'number' }>): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return ` of ${min} or more`;
  return max === undefined ? '' : ` of ${max} or less`;
}

/** JSON Schema of an answer, for a model. */
export function schemaOf(answer: TypedAnswer): Readonly<Record<string, unknown>> {
  if (answer.type === 'text') return { type: 'string' };
  if (answer.type === 'boolean') return { type: 'boolean' };
  return answer.type === 'enum' ? { type: 'string', enum: answer.options } : { type: 'number' };
}
