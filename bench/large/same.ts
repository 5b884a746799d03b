// Whether two answers hold the same rows. A bare server sends dates and decimals as its driver returns them, so cells are
// compared by value. Rows with the same time may come in any order, because a sort by time does not say which is first.
import { isDeepStrictEqual } from 'node:util';

interface Answer {
  readonly columns?: readonly string[];
  readonly rows?: readonly (readonly unknown[])[];
  readonly hasMore?: boolean;
}

const SORTED_BY = 'created_at';

/** Throws if the texts of two answers differ. Of a created record, the key may. */
export function checkSameRows(operation: string, ours: string, theirs: string, isWrite: boolean): void {
  if (ours === theirs) return;
  const [one, other] = [ours, theirs].map((text) => JSON.parse(text) as Answer) as [Answer, Answer];
  const { columns = [], rows = [] } = one;
  if (rows.length === 0) throw new Error(`${operation} finds nothing, so it measures nothing: ${ours}`);
  const comparable = ({ rows = [] }: Answer) => rows.map((row) => (isWrite ? row.slice(1) : row).map(comparableCell));
  const [mine, bare] = [comparable(one), comparable(other)];
  const sortedBy = columns.indexOf(SORTED_BY);
  const isSame = sortedBy < 0 ? isDeepStrictEqual(mine, bare) : isSamePage(mine, bare, sortedBy);
  if (!isSame || one.hasMore !== other.hasMore)
    throw new Error(`other rows for ${operation}:\n${ours.slice(0, 3000)}\n${theirs.slice(0, 3000)}`);
}

type Row = readonly unknown[];

/** Rows with the time of the first or last may be on the pages beside it, so only one of the answers may have them. */
function isSamePage(mine: readonly Row[], bare: readonly Row[], sortedBy: number): boolean {
  const times = mine.map((row) => row[sortedBy]);
  const [first, last] = [times[0], times.at(-1)];
  const byKey = new Map(bare.map((row) => [row[0], row]));
  const isFound = (row: Row): boolean => {
    const found = byKey.get(row[0]);
    return found ? isDeepStrictEqual(found, row) : row[sortedBy] === first || row[sortedBy] === last;
  };
  const areTimesSame = isDeepStrictEqual(
    times,
    bare.map((row) => row[sortedBy]),
  );
  return areTimesSame && mine.every(isFound);
}

function comparableCell(cell: unknown): unknown {
  if (typeof cell !== 'string') return cell;
  if (/^-?\d+(\.\d+)?$/.test(cell)) return Number(cell);
  const instant = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d+)?)(?:Z|\+00)?$/.exec(cell);
  return instant ? new Date(`${instant[1]}T${instant[2]}Z`).toISOString() : cell;
}
