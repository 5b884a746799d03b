// The values of the parameters of a query: each is a condition with Equal that holds for every record.
import { fail } from '../../core/errors.ts';
import { always, and } from '../lower/simplify.ts';
import type { Collection, Column } from '../model/types.ts';
import { pathsOf, visitTests } from './residual.ts';
import type { Filter, Path, Select } from './types.ts';

type Test = Filter & { readonly op: 'test' };

/** The parameters of a statement on the collection. Throws INVALID_ARGUMENT, with the filters to send. */
export function planParameters({ name, query }: Collection, where: Filter): Pick<Select, 'parameters'> {
  if (!query?.parameters.length) return {};
  const given = conjunctsOf(where);
  const parameters = query.parameters.map((column) => {
    const test = given.find((each): each is Test => each.op === 'test' && isOf(each.path, column));
    if (test) return test.is === 'Missing' ? null : test.value;
    let isNested = false;
    visitTests(where, (each) => {
      isNested ||= pathsOf(each).some((path) => isOf(path, column));
    });
    const fallback = column.parameter?.default;
    return isNested || fallback === undefined ? failWithoutValue(name, query.parameters, column, isNested) : fallback;
  });
  return { parameters };
}

/** The conditions on the parameters, for another statement on the same collection. */
export function parameterTests({ query }: Collection, where: Filter): Filter {
  if (!query?.parameters.length) return always;
  const isTest = (each: Filter) => each.op === 'test' && query.parameters.some((column) => isOf(each.path, column));
  return and(...conjunctsOf(where).filter(isTest));
}

/** A parameter in the condition of a measure would not be bound. */
export function refuseParameters(where: Filter | undefined): void {
  if (where)
    visitTests(where, (test) => {
      const found = pathsOf(test).find(({ via, field }) => via.length === 0 && field.parameter);
      if (found)
        fail('INVALID_ARGUMENT', {
          argument: 'measures',
          problem: `'${found.field.name}' is a parameter of the whole query: send it in filters.`,
        });
    });
}

const isOf = ({ via, field }: Path, column: Column): boolean => via.length === 0 && field === column;

function conjunctsOf(filter: Filter): readonly Filter[] {
  return filter.op === 'and' ? filter.of.flatMap(conjunctsOf) : [filter];
}

const examples: Readonly<Record<string, unknown>> = {
  String: '...',
  Number: 1,
  Boolean: true,
  Date: '2026-01-31T00:00:00Z',
  Dateonly: '2026-01-31',
};

function failWithoutValue(
  name: string,
  parameters: readonly Column[],
  { name: field }: Column,
  isNested: boolean,
): never {
  const needed = parameters.filter((each) => each.parameter?.default === undefined || each.name === field);
  const leaves = needed.map((each) => ({
    field: each.name,
    operator: 'Equal',
    value: each.parameter?.default ?? examples[String(each.type)],
  }));
  const example = leaves.length === 1 ? leaves[0] : { aggregator: 'And', conditions: leaves };
  return fail('INVALID_ARGUMENT', {
    argument: 'filter',
    problem: `${isNested ? `the parameter '${field}' of '${name}' must hold for all records` : `'${name}' needs its parameter '${field}'`}. Send it in the filters with Equal, and other conditions beside it with And, such as ${JSON.stringify(example)}.`,
  });
}
