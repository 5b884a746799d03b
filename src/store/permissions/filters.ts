// Validates JSON filters. Stored filters must be valid (row scopes, conditions of actions). Files that people edit are
// checked more strictly, and a typo is reported at its position.
import { comparisonOperators, operators, type Quantifier, quantifiers, valuelessOperators } from '../../core/filter.ts';
import { suggestNames } from '../../core/suggestions.ts';

interface FilterProblem {
  /** Keys and indexes from the root of the filter. */
  readonly path: readonly (string | number)[];
  readonly problem: string;
}

const DEPTH = 50;

/** `strict`: unknown keys, missing values and misspelled operators are problems too. */
export function findFilterProblems(value: unknown, strict = false): readonly FilterProblem[] {
  const problems: FilterProblem[] = [];
  const addProblem = (path: FilterProblem['path'], problem: string) => void problems.push({ path, problem });

  const checkNode = (input: unknown, path: FilterProblem['path']): unknown => {
    if (typeof input !== 'object' || input === null || Array.isArray(input))
      return addProblem(path, 'expected an object.');
    if (path.length > 2 * DEPTH) return addProblem(path, 'nested too deeply.');
    const node = input as Record<string, unknown>;
    const isBranch = 'aggregator' in node || (strict && 'conditions' in node);
    const quantifier = isBranch ? undefined : quantifiers.find((each) => each in node);
    if (quantifier) return checkQuantified(node, quantifier, path);
    if (!isBranch && ('other' in node || 'expression' in node)) return checkComparison(node, path);
    if (strict) addUnknown(node, path, isBranch ? ['aggregator', 'conditions'] : ['field', 'operator', 'value']);
    if (!isBranch) return checkLeaf(node, path);
    if (!['And', 'Or', 'Not'].includes(node.aggregator as string))
      addProblem([...path, 'aggregator'], 'expected And, Or or Not.');
    if (!Array.isArray(node.conditions)) return addProblem([...path, 'conditions'], 'expected a list.');
    for (const [index, condition] of node.conditions.entries()) checkNode(condition, [...path, 'conditions', index]);
    return undefined;
  };

  const checkQuantified = (
    node: Record<string, unknown>,
    quantifier: Quantifier,
    path: FilterProblem['path'],
  ): void => {
    // Checked even without `strict`: an ignored key would be a missing condition, which widens a negation.
    addUnknown(node, path, [quantifier, 'where']);
    if (typeof node[quantifier] !== 'string' || node[quantifier] === '')
      addProblem([...path, quantifier], 'expected the name of a relation.');
    if (node.where !== undefined) checkNode(node.where, [...path, 'where']);
    else if (quantifier === 'every') addProblem(path, 'every needs a where.');
  };

  // Checked even without `strict`: an ignored side would be another comparison.
  const checkComparison = (node: Record<string, unknown>, path: FilterProblem['path']): void => {
    const left = 'expression' in node ? 'expression' : 'field';
    const right = 'other' in node ? 'other' : 'value';
    addUnknown(node, path, [left, 'operator', right]);
    if (left === 'field' && (typeof node.field !== 'string' || node.field === ''))
      addProblem([...path, 'field'], 'expected the name of a field.');
    if (node[right] === undefined || node[right] === null)
      addProblem([...path, right], 'expected what to compare with: other or value.');
    if (!(comparisonOperators as readonly unknown[]).includes(node.operator))
      addProblem([...path, 'operator'], `expected one of ${comparisonOperators.join(', ')}.`);
  };

  const checkLeaf = (node: Record<string, unknown>, path: FilterProblem['path']): void => {
    if (typeof node.field !== 'string' || node.field === '')
      addProblem([...path, 'field'], 'expected the name of a field.');
    const { operator } = node;
    if (!(operators as readonly unknown[]).includes(operator)) {
      const near = strict && typeof operator === 'string' ? suggestNames(operator, operators) : [];
      addProblem(
        [...path, 'operator'],
        near.length > 0 ? `no operator '${operator}'. Near: ${near.join(', ')}.` : 'expected an operator.',
      );
    } else if (strict && !('value' in node) && !(valuelessOperators as readonly unknown[]).includes(operator)) {
      addProblem([...path, 'operator'], `${operator} needs a value.`);
    }
  };

  const addUnknown = (node: object, path: FilterProblem['path'], knownKeys: readonly string[]): void => {
    for (const key of Object.keys(node)) {
      if (!knownKeys.includes(key))
        addProblem([...path, key], `unknown; a filter here can have ${knownKeys.join(', ')}.`);
    }
  };

  checkNode(value, []);
  return problems;
}

/** The first problem as one line, or undefined when the value is a filter. */
export function findFilterProblem(value: unknown, at = 'filter'): string | undefined {
  const [first] = findFilterProblems(value);
  if (!first) return undefined;
  const position = first.path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return `${at}${position}: ${first.problem}`;
}
