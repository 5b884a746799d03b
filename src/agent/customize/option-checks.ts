// Table-driven checks of the user's options; each row describes the expected value. Errors never show the actual value,
// which may be a secret.
import { fail } from '../../core/errors.ts';
import { suggestNames } from '../../core/suggestions.ts';

export interface OptionRule {
  readonly required?: true;
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
}

export type OptionRules<Options> = { readonly [K in keyof Options]-?: OptionRule };

export const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

/** CONFIGURATION, with similar names, for a missing, unknown or invalid option. `at` is the user's line. */
export function checkOptions(
  caller: string,
  given: unknown,
  rows: Readonly<Record<string, OptionRule>>,
  at: string,
): void {
  if (typeof given !== 'object' || given === null) refuseOption(`${caller} needs an object of options`, at);
  const names = Object.keys(rows);
  for (const name of Object.keys(given))
    if (!names.includes(name)) failUnknownOption(`${caller} has no option '${name}'`, name, names, at);
  const values = given as Readonly<Record<string, unknown>>;
  for (const [name, { required, expected, accepts: takes }] of Object.entries(rows)) {
    if (values[name] === undefined && required) refuseOption(`${caller} needs '${name}': ${expected}`, at);
    if (values[name] !== undefined && !takes(values[name]))
      refuseOption(`${caller}: '${name}' must be ${expected}`, at);
  }
}

function failUnknownOption(problem: string, name: string, known: readonly string[], at: string): never {
  const near = suggestNames(name, known);
  return refuseOption(`${problem}. ${near.length ? `Near: ${near.join(', ')}` : `Known: ${known.join(', ')}`}`, at);
}

export function refuseOption(problem: string, at: string): never {
  return fail('CONFIGURATION', { problem: `${problem}. (${at})` });
}
