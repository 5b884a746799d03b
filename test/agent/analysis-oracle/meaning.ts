// What an analytic question means, read from QUERY.md and the docs. Each record is looked at separately; numbers are
// exact decimals.
import { holds, look, type Meaning, type Place, step, type View, visible } from '../oracle/interpreter.ts';
import { bytes, compare } from '../oracle/values.ts';
import { choices, type Kind, type WorldTable } from '../oracle/world.ts';
import { exact } from './exact.ts';
import { type Answer, type Item, type Level, markOf } from './level.ts';
import { evaluate, type Fields, TooLarge, type Value } from './measures.ts';
import {
  type Aggregate, type ColumnKind, fieldOf, type Group, kindOf, kindOfField, kindOfGroup, kindOfMeasure, manyPrefixes,
  prefixOf, type Scale, scaleOfField, scaleOfMeasure,
} from './question.ts'; // biome-ignore format: one family
import { finish } from './steps.ts';
import { bucketOf, partOf, shiftBucket } from './times.ts';

/** Throws `TooLarge` if numbers or the number of rows exceed what the question is meant to test. */
export function interpretAnalysis(given: Meaning, question: Aggregate): Answer {
  const meaning = { ...given, known: { seen: new Map(), steps: new Map() } };
  const table = tableOf(meaning, question.collectionName);
  const view: View = { names: 'caller', sees: 'allowed', zone: question.timezone ?? meaning.zone };
  const inner: Aggregate = question.over
    ? {
        ...question.over,
        collectionName: question.collectionName,
        ...(question.filters && { filters: question.filters }),
      }
    : question;
  const groups = inner.groups ?? [];
  const groupKinds = groups.map((group) => kindOfGroup(meaning.world, table, group));
  const places = table.rows
    .map((row) => ({ table, row }))
    .filter(({ row }) => visible(meaning, table, row))
    .filter((place) => !question.filters || holds(meaning, view, place, question.filters));
  const items = places.flatMap((place) => itemsOf(meaning, view, place, groups));
  const found = pile(meaning, groupKinds, items);
  const rows = inner.includeEmpty ? addEmpty(meaning, view, table, groups, groupKinds, found) : found;
  const level: Level = {
    question: inner,
    groupKinds,
    measureKinds: Object.values(inner.measures).map((each) => kindOfMeasure(meaning.world, table, each)),
    measureScales: scalesOf(inner, scaleOfField(meaning.world, table)),
    rows,
  };
  const answer = finish(meaning, level);
  if (!question.over) return { ...answer, records: places.length };
  return { ...outer(meaning, question, answer.rows, level), records: places.length };
}

/** The rows of the inner level become records, whose fields are the inner measures. */
function outer(meaning: Meaning, question: Aggregate, rows: readonly (readonly Value[])[], inner: Level) {
  const names = Object.keys(inner.question.measures);
  const from = inner.groupKinds.length;
  const fields = (row: readonly Value[]): Fields => ({
    read: (name) => row[from + names.indexOf(name)] ?? null,
    kind: () => 'decimal',
    scale: (name) => inner.measureScales[names.indexOf(name)]!,
    zone: 'UTC',
  });
  const items = rows.map((row): Item => {
    return {
      groups: [],
      kind: () => 'decimal',
      value: (expression) => evaluate(expression, fields(row)),
      passes: () => true,
    };
  });
  const measureKinds = Object.keys(question.measures).map((): Kind => 'decimal');
  const measureScales = scalesOf(question, (name) => inner.measureScales[names.indexOf(name)]!);
  return finish(meaning, { question, groupKinds: [], measureKinds, measureScales, rows: [{ groups: [], items }] });
}

const scalesOf = ({ measures }: Pick<Aggregate, 'measures'>, scale: Scale): number[] =>
  Object.values(measures).map((each) => scaleOfMeasure(each, measures, scale));

const tableOf = ({ world }: Meaning, name: string): WorldTable => world.tables.find((each) => each.name === name)!;

/** The record once for each combination of values of its groups. */
function itemsOf(meaning: Meaning, view: View, place: Place, groups: readonly Group[]): Item[] {
  const prefixes = manyPrefixes(meaning.world, place.table, groups);
  let reached: ReadonlyMap<string, Place | undefined>[] = [new Map([['', place]])];
  for (const prefix of prefixes) {
    const steps = prefix.split(':');
    reached = reached.flatMap((known) => {
      const start = known.get(steps.slice(0, -1).join(':'));
      const ends = start ? step(meaning, view, start, steps.at(-1)!) : [];
      return (ends.length > 0 ? ends : [undefined]).map((end) => new Map([...known, [prefix, end]]));
    });
  }
  const found = new Map<string, Value[]>();
  for (const known of reached) {
    const values = groups.map((group): Value => {
      const prefix = prefixOf(prefixes, fieldOf(group));
      const at = known.get(prefix);
      return at ? groupValue(meaning, view, at, group, fieldOf(group).slice(prefix ? prefix.length + 1 : 0)) : null;
    });
    const kinds = groups.map((group) => kindOfGroup(meaning.world, place.table, group));
    const mark = markOf(meaning, kinds, values);
    const shown = found.get(mark) ?? values;
    found.set(
      mark,
      shown.map((value, at) => lower(kinds[at]!, value, values[at]!)),
    );
  }
  const kind = (name: string) => kindOfField(meaning.world, place.table, name);
  const fields: Fields = {
    read: (name) => numbered(look(meaning, view, place, name).value as Value, kind(name)),
    kind,
    scale: scaleOfField(meaning.world, place.table),
    zone: view.zone,
  };
  return [...found.values()].map((values) => ({
    groups: values,
    kind: (expression) => kindOf(meaning.world, place.table, expression),
    value: (expression) => evaluate(expression, fields),
    passes: (filter) => holds(meaning, view, place, filter),
  }));
}

const numbered = (value: Value, kind: Kind): Value =>
  value !== null && (kind === 'whole' || kind === 'big' || kind === 'decimal') ? exact(value) : value;

function groupValue(meaning: Meaning, view: View, place: Place, group: Group, field: string): Value {
  const { value, kind } = look(meaning, view, place, field);
  if (value === null) return null;
  if (typeof group === 'string') return numbered(value as Value, kind);
  if ('bucket' in group) return bucketOf(String(value), kind, group.bucket, view.zone);
  if ('part' in group) return partOf(String(value), kind, group.part, view.zone);
  return group.ranges.filter((start) => compare(meaning, start, value, 'decimal') <= 0).length;
}

/** Texts that differ in case only are shown by the lowest of them. */
const lower = (kind: ColumnKind, a: Value, b: Value): Value =>
  kind === 'label' && a !== null && b !== null && bytes(String(b), String(a)) < 0 ? b : a;

function pile(meaning: Meaning, kinds: readonly ColumnKind[], items: readonly Item[]) {
  const piles = new Map<string, { groups: Value[]; items: Item[] }>();
  if (kinds.length === 0) piles.set('[]', { groups: [], items: [] });
  for (const item of items) {
    const mark = markOf(meaning, kinds, item.groups);
    const known = piles.get(mark) ?? { groups: [...item.groups], items: [] };
    piles.set(mark, known);
    known.items.push(item);
    for (const [at, value] of item.groups.entries()) known.groups[at] = lower(kinds[at]!, known.groups[at]!, value);
  }
  return [...piles.values()];
}

const MOST_ROWS = 400;

/** Adds every combination of values that has no record. */
function addEmpty(
  meaning: Meaning,
  view: View,
  table: WorldTable,
  groups: readonly Group[],
  kinds: readonly ColumnKind[],
  found: ReturnType<typeof pile>,
): ReturnType<typeof pile> {
  let combinations: Value[][] = [[]];
  for (const [at, group] of groups.entries()) {
    const values = domainOf(
      meaning,
      view,
      table,
      group,
      found.map((row) => row.groups[at]!),
    );
    combinations = combinations.flatMap((start) => values.map((value) => [...start, value]));
    if (combinations.length > MOST_ROWS) throw new TooLarge('rows');
  }
  const known = new Set(found.map((row) => markOf(meaning, kinds, row.groups)));
  const empty = new Map(combinations.map((values) => [markOf(meaning, kinds, values), values]));
  return [
    ...found,
    ...[...empty].filter(([mark]) => !known.has(mark)).map(([, values]) => ({ groups: values, items: [] })),
  ];
}

function domainOf(meaning: Meaning, view: View, table: WorldTable, group: Group, found: readonly Value[]): Value[] {
  const field = fieldOf(group);
  if (typeof group === 'string') {
    const kind = kindOfField(meaning.world, table, group);
    if (kind === 'flag') return [false, true];
    if (kind === 'choice' && !meaning.choiceIsText) return [...choices];
    const steps = field.split(':');
    const end = steps.slice(0, -1).reduce((at, name) => {
      const { to } = [...at.relations, ...at.many].find((each) => each.name === name)!;
      return tableOf(meaning, to);
    }, table);
    const rows = end.rows.filter((row) => visible(meaning, end, row));
    return rows
      .map((row) => groupValue(meaning, view, { table: end, row }, group, steps.at(-1)!))
      .filter((value) => value !== null);
  }
  if ('ranges' in group) return Array.from({ length: group.ranges.length + 1 }, (_, at) => at);
  if ('part' in group) {
    const [from, count] = { HourOfDay: [0, 24], Weekday: [1, 7], MonthOfYear: [1, 12] }[group.part] as [number, number];
    return Array.from({ length: count }, (_, at) => from + at);
  }
  const starts = found
    .filter((each) => each !== null)
    .map(String)
    .sort();
  const periods: string[] = [];
  for (let at = starts[0]; at !== undefined && at <= starts.at(-1)!; at = shiftBucket(at, group.bucket, 1)) {
    periods.push(at);
    if (periods.length > MOST_ROWS) throw new TooLarge('rows');
  }
  return periods;
}
