// Whether JSON that somebody wrote is a filter. What is kept must be one (row scopes, conditions of actions); a file that
// people write is looked at more strictly, so that a slip of the pen is told where it is made and not by what it lets through.
import { operators } from '../core/filter.ts';
import { nearNames } from '../core/near.ts';

export interface FilterProblem {
  /** Keys and positions from the filter down. */
  readonly path: readonly (string | number)[];
  readonly problem: string;
}

const DEPTH = 50;

/** What takes no value. */
const alone = /^(Present|Blank|Missing|Today|Yesterday|Past|Future|Previous(Week|Month|Quarter|Year)(ToDate)?)$/;

/** `strict`: unknown keys, missing values and operators that are nearly right are problems too. */
export function findFilterProblems(value: unknown, strict = false): readonly FilterProblem[] {
  const problems: FilterProblem[] = [];
  const tell = (path: FilterProblem['path'], problem: string) => void problems.push({ path, problem });

  const look = (given: unknown, path: FilterProblem['path']): unknown => {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) return tell(path, 'expected an object.');
    if (path.length > 2 * DEPTH) return tell(path, 'nested too deeply.');
    const node = given as Record<string, unknown>;
    const isBranch = 'aggregator' in node || (strict && 'conditions' in node);
    if (strict) tellUnknown(node, path, isBranch ? ['aggregator', 'conditions'] : ['field', 'operator', 'value']);
    if (!isBranch) return lookAtLeaf(node, path);
    if (node.aggregator !== 'And' && node.aggregator !== 'Or') tell([...path, 'aggregator'], 'expected And or Or.');
    if (!Array.isArray(node.conditions)) return tell([...path, 'conditions'], 'expected a list.');
    for (const [index, condition] of node.conditions.entries()) look(condition, [...path, 'conditions', index]);
    return undefined;
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

/** The first of them in a line, or undefined when it is a filter. */
export function findFilterProblem(value: unknown, at = 'filter'): string | undefined {
  const [first] = findFilterProblems(value);
  if (!first) return undefined;
  const place = first.path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return `${at}${place}: ${first.problem}`;
}
