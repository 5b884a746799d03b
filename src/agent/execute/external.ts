// Relations with records from customization code. The code runs once for each combination of its dependencies, a few
// calls at a time, and its results are checked before use.
import type { CodeRecord, CustomizationContext } from '../customize/context.ts';
import { callCode, failCode } from '../customize/user-code.ts';
import { binarySlots, readyRows } from '../encode/records.ts';
import type { Column, External } from '../model/types.ts';
import { pathTo } from '../resolve/paths.ts';
import type { Row } from '../sources/statement.ts';
import { readComputedValue } from './computed-values.ts';
import { inBatches } from './fetch-related.ts';

const MAX_CONCURRENT_CALLS = 4;

/** The rows for each record: the columns, then the index of the row. CUSTOMIZATION_FAILED. */
export async function listExternal(
  external: External,
  records: readonly CodeRecord[],
  context: CustomizationContext,
): Promise<Row[][]> {
  const found: Row[][] = [];
  await inBatches(records, MAX_CONCURRENT_CALLS, async (record, index) => {
    found[index] = await listOne(external, record, context);
  });
  return found;
}

/** The rows as objects, ready for JSON. */
export function toReadyRecords({ collection, columns }: External, rows: readonly Row[]): Record<string, unknown>[] {
  readyRows(rows, binarySlots(columns.map((column) => pathTo(collection, [], column))));
  return rows.map((row) => Object.fromEntries(columns.map(({ name }, at) => [name, row[at]])));
}

async function listOne(external: External, record: CodeRecord, context: CustomizationContext): Promise<Row[]> {
  const { what, at, list, columns } = external;
  const refuse = (problem: string): never => failCode(what, at, new Error(`listRecords returned ${problem}`));
  const given: unknown = await callCode(what, at, async () => list(record, context));
  if (!Array.isArray(given)) return refuse(`${given === null ? 'null' : typeof given} instead of a list of records`);
  return given.map((each: unknown, index) => {
    if (typeof each !== 'object' || each === null || Array.isArray(each))
      return refuse(`a value that is not a record, at ${index}`);
    const values = each as Readonly<Record<string, unknown>>;
    return [
      ...columns.map((column) =>
        readValue(column, values[column.column], () => refuse(describeProblem(column, index))),
      ),
      index,
    ];
  });
}

function readValue(column: Column, given: unknown, refuse: () => never): unknown {
  return readComputedValue(given ?? null, column, refuse);
}

function describeProblem({ column, type }: Column, index: number): string {
  return `a '${column}' that is not a ${typeof type === 'string' ? type : `[${type[0]}]`}, at ${index}`;
}
