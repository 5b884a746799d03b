// Validates JSON filters. Stored filters must be valid (row scopes, conditions of actions). Files that people edit are
// checked more strictly, and a typo is reported at its position.
import { operators, type Quantifier, quantifiers } from '../../core/filter.ts';
import { nearNames } from '../../core/suggestions.ts';

export interface FilterProblem {
  /** Keys and indexes from the root of the filter. */
  readonly path: readonly (string | number)[];
  readonly problem: string;
}

const DEPTH = 50;

/** Operators without a value. */
const alone = /^(Present|Blank|Missing|Today|Yesterday|Past|Future|Previous(Week|Month|Quarter|Year)(ToDate)?)$/;

/** `strict`: unknown keys, missing values and misspelled operators are problems too. */
export function findFilterProblems(value: unknown, strict = false): readonly FilterProblem[] {
  const problems: FilterProblem[] = [];
  const tell = (path: FilterProblem['path'], problem: string) => void problems.push({ path, problem });

  const look = (given: unknown, path: FilterProblem['path']): unknown => {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) return tell(path, 'expected an object.');
    if (path.length > 2 * DEPTH) return tell(path, 'nested too deeply.');
    const node = given as Record<string, unknown>;
    const isBranch = 'aggregator' in node || (strict && 'conditions' in node);
    const quantifier = isBranch ? undefined : quantifiers.find((each) => each in node);
    if (quantifier) return lookAtQuantified(node, quantifier, path);
    if (strict) tellUnknown(node, path, isBranch ? ['aggregator', 'conditions'] : ['field', 'operator', 'value']);
    if (!isBranch) return lookAtLeaf(node, path);
    if (!['And', 'Or', 'Not'].includes(node.aggregator as string))
      tell([...path, 'aggregator'], 'expected And, Or or Not.');
    if (!Array.isArray(node.conditions)) return tell([...path, 'conditions'], 'expected a list.');
    for (const [index, condition] of node.conditions.entries()) look(condition, [...path, 'conditions', index]);
    return undefined;
  };

  const lookAtQuantified = (
    node: Record<string, unknown>,
    quantifier: Quantifier,
    path: FilterProblem['path'],
  ): void => {
    // Checked even without `strict`: an ignored key would be a missing condition, which widens a negation.
    tellUnknown(node, path, [quantifier, 'where']);
    if (typeof node[quantifier] !== 'string' || node[quantifier] === '')
      tell([...path, quantifier], 'expected the name of a relation.');
    if (node.where !== undefined) look(node.where, [...path, 'where']);
    else if (quantifier === 'every') tell(path, 'every needs a where.');
  };

  const lookAtLeaf = (node: Record<string, unknown>, path: FilterProblem['path']): void => {
    if (typeof node.field !== 'string' || node.field === '') tell([...path, 'field'], 'expected the name of a field.');
    const { operator } = node;
    if (!(operators as readonly unknown[]).includes(operator)) {
      const near = strict && typeof operator === 'string' ? nearNames(operator, operators) : [];
      tell(
        [...path, 'operator'],
        near.length > 0 ? `no operator '${operator}'. Near: ${near.join(', ')}.` : 'expected an operator.',
      );
    } else if (strict && !('value' in node) && !alone.test(operator as string)) {
      tell([...path, 'operator'], `${operator} needs a value.`);
    }
  };

  const tellUnknown = (node: object, path: FilterProblem['path'], known: readonly string[]): void => {
    for (const key of Object.keys(node)) {
      if (!known.includes(key)) tell([...path, key], `unknown; a filter has ${known.join(', ')} here.`);
    }
  };

  look(value, []);
  return problems;
}

/** The first problem as one line, or undefined when the value is a filter. */
export function findFilterProblem(value: unknown, at = 'filter'): string | undefined {
  const [first] = findFilterProblems(value);
  if (!first) return undefined;
  const place = first.path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return `${at}${place}: ${first.problem}`;
}
