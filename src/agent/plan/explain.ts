// Formats a plan as text, for people and golden files. Shows `?` for a value, and the length of a list.

import { substituteLookups } from '../execute/fetch-related.ts';
import type { Collection } from '../model/types.ts';
import { relationPathId } from '../resolve/paths.ts';
import { operandsOf } from '../sources/aggregate/expression.ts';
import type { AggregatePlan } from './aggregate.ts';
import { collectLookups } from './cross-source.ts';
import type {
  Condition,
  Expression,
  Filter,
  GroupSelect,
  Join,
  Lookup,
  Measure,
  Order,
  Query,
  ReadPlan,
  Step,
} from './types.ts';

export function explainRead(query: Query, plan: ReadPlan): string {
  const lines = [`list ${query.collection.name}`];
  const { select } = plan;
  for (const lookup of plan.lookups) lines.push(...explainLookup(lookup).split('\n').map(indent));
  if (!select) return `${lines[0]}\n  empty: no record can match\n`;
  lines.push('  columns');
  for (const [slot, path] of select.columns.entries()) lines.push(`    ${slot} ${path.id}${explainRole(slot, plan)}`);
  if (query.select.length)
    lines.push(`  answer ${query.select.map((named, index) => `${named.name}=${plan.columns[index]}`).join(' ')}`);
  for (const join of select.joins) lines.push(`  ${explainJoin(join)}`);
  lines.push(`  where ${explainFilter(select.where)}`);
  lines.push(`  order ${select.order.map(explainOrder).join(', ') || 'none'}`);
  if (select.after) lines.push(`  after ${select.after.map(() => '?').join(', ')}`);
  const isSliced = plan.steps.some((step) => step.kind === 'slice');
  if (isSliced) lines.push(`  limit ${select.limit}, read completely`);
  else if (query.limit !== null) lines.push(`  limit ${query.limit} + 1${query.skip ? ` after ${query.skip}` : ''}`);
  lines.push('  sql');
  lines.push(...indented(plan.source.explain(withSampleKeys(select))));
  for (const step of [...plan.steps, ...plan.outputSteps]) lines.push(...explainStep(step).split('\n').map(indent));
  return joinLines(lines);
}

/** `here` explains how records are read for in-memory grouping; null if the source groups them. */
export function explainGroup(
  { name }: Collection,
  { source, columns, group, isPaged }: AggregatePlan,
  inMemory: string | null,
): string {
  const lines = [`aggregate ${name}`];
  if (!group) return joinLines([...lines, '  empty: no record can match']);
  const { measures, groups, order, limit, skip, joins, where } = group;
  for (const lookup of [group, ...measures.flatMap(({ related }) => related ?? [])].flatMap(collectLookups))
    lines.push(...explainLookup(lookup).split('\n').map(indent));
  lines.push(`  answer ${columns.join(', ')}`);
  for (const measure of measures) lines.push(`  value ${explainMeasure(measure)}`);
  if (groups.length) lines.push(`  groups ${groups.map(explainKey).join(', ')}`);
  for (const join of joins) lines.push(`  ${explainJoin(join)}`);
  lines.push(`  where ${explainFilter(where)}`);
  const orderTexts = order.map(({ by, index, ascending }) => {
    const what = by === 'measure' ? explainMeasure(measures[index]!) : explainKey(groups[index]!);
    return `${what}${ascending ? '' : ' descending'}`;
  });
  lines.push(`  order ${orderTexts.join(', ') || 'none'}`);
  if (limit !== undefined) lines.push(`  limit ${limit - 1} + 1${skip ? ` after ${skip}` : ''}`);
  if (inMemory === null) lines.push('  sql', ...indented(source.explain(withSampleKeysOfGroup(group))));
  else lines.push('  then group the rows here', ...indented(inMemory));
  if (!isPaged) lines.push('  then derive, select and order the groups here');
  return joinLines(lines);
}

function explainMeasure({ operation, of, where, related }: Measure): string {
  if (related) {
    const { collection, keys, own, ...rows } = related;
    const pairs = keys.map((key, at) => `${key.id} = ${own[at]!.id}`).join(' and ');
    const joins = explainJoins(rows.joins);
    return `${operation} of ${of ? explainExpression(of) : 'records'} of ${collection.name} on ${pairs}${joins} where ${explainFilter(rows.where)}`;
  }
  const condition = where ? ` where ${explainFilter(where)}` : '';
  return `${operation} of ${of ? explainExpression(of) : 'records'}${condition}`;
}

function explainExpression(expression: Expression): string {
  if (expression.op === 'field') return expression.path.id;
  if (expression.op === 'constant') return '?';
  const of = operandsOf(expression).map(explainExpression).join(', ');
  if (expression.op === 'part') return `${expression.unit}(${of})`;
  return `${expression.op}${expression.op === 'difference' ? ` in ${expression.unit}s` : ''}(${of})`;
}

function explainKey({ path, by }: GroupSelect['groups'][number]): string {
  if (!by) return path.id;
  if (by.kind === 'ranges') return `${by.bounds.length + 1} ranges of ${path.id}`;
  return `${by.kind === 'bucket' ? by.unit.toLowerCase() : by.unit} of ${path.id}${by.offsets ? ` in ${by.offsets.zone}` : ''}`;
}

const indented = (text: string): string[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `    ${line}`);

function joinLines(lines: readonly string[]): string {
  return `${lines.join('\n').replaceAll('\0scope', ' (scope)').replaceAll('\0removed', ' (removed)')}\n`;
}

/** Fills lookups with two sample keys, for SQL text with several keys. The text contains no values. */
function withSampleKeys<C extends Condition>(condition: C): C {
  const sample = ({ query }: Lookup) => (query.select[0]!.path.field.type === 'Number' ? [1, 2] : ['a', 'b']);
  return substituteLookups(condition, new Map(collectLookups(condition).map((lookup) => [lookup, sample(lookup)])));
}

function withSampleKeysOfGroup(group: GroupSelect): GroupSelect {
  const measures = group.measures.map((measure) =>
    measure.related ? { ...measure, related: withSampleKeys(measure.related) } : measure,
  );
  return { ...withSampleKeys(group), measures };
}

const indent = (line: string): string => `  ${line}`;

/** The lookup runs before the statement that uses its result. */
function explainLookup({ query, plan }: Lookup): string {
  return `first look up ${query.select[0]!.name} in\n${explainRead(query, plan).trimEnd().split('\n').map(indent).join('\n')}`;
}

function explainJoin({ via, where, joins }: Join): string {
  const { to, on, only } = via.at(-1)!;
  const type = only ? [`${only.column.column} = '${only.value}'`] : [];
  const pairs = [...on.map(({ from, to: other }) => `${from.column} = ${other.column}`), ...type].join(' and ');
  const further = explainJoins(joins.filter((each) => each.where.op !== 'always'));
  return `join ${relationPathId(via)} to ${to.name} on ${pairs}${further}${where.op === 'always' ? '' : ` where ${explainFilter(where)}`}`;
}

function explainJoins(joins: readonly Join[]): string {
  return joins.map((join) => ` ${explainJoin(join)}`).join('');
}

function usesSlot(step: Step, slot: number): boolean {
  if (step.kind === 'compute') return step.from.includes(slot);
  if (step.kind === 'fetch') return step.from === slot || step.type === slot;
  if (step.kind === 'ask') return step.from.includes(slot);
  if (step.kind === 'keep') return [...step.slots.values()].includes(slot);
  return step.kind === 'sort' && step.by.some((each) => each.slot === slot);
}

function explainStep(step: Step): string {
  switch (step.kind) {
    case 'bound':
      return `then refuse more rows than that, because of ${step.field}`;
    case 'fetch': {
      const { query, plan, via, from, into } = step;
      const places = query.select.slice(1).map((named, at) => `${into[at]} ${named.name}`);
      const condition = plan.select ? explainFilter(plan.select.where) : 'never';
      const where = condition === 'always' ? '' : ` where ${condition}`;
      const further = [
        ...plan.lookups.map((each) => explainLookup(each)),
        ...[...plan.steps, ...plan.outputSteps].map(explainStep),
      ];
      const first = `then fetch ${relationPathId(via)} from ${query.collection.name} by ${query.select[0]!.name} = ${from}: ${places.join(', ')}${where}`;
      return [first, ...further.map(indent)].join('\n');
    }
    case 'compute': {
      const guard = step.guard === null ? '' : ` unless ${step.guard} is null`;
      return `then ${step.computedFrom.external ? 'call for' : 'compute'} ${step.into} ${step.path.id} from ${step.from.join(' ')}${guard}`;
    }
    case 'ask': {
      const lines = [`then ask of ${step.from.join(' ')} for ${step.into}: ${explainFilter(step.of)}`];
      return [...lines, ...step.plan.lookups.map((each) => indent(explainLookup(each)))].join('\n');
    }
    case 'keep':
      return `then keep ${explainFilter(step.where)}`;
    case 'sort':
      return `then sort by ${step.by.map(({ slot, order }) => `${slot} ${explainOrder(order)}`).join(', ')}`;
    case 'slice':
      return `then take ${step.limit - 1} + 1${step.skip ? ` after ${step.skip}` : ''}`;
  }
}

function explainRole(slot: number, plan: ReadPlan): string {
  if (plan.columns.includes(slot)) return '';
  const isNeeded = [...plan.steps, ...plan.outputSteps].some((step) => usesSlot(step, slot));
  if (isNeeded) return ' (for later steps)';
  return plan.keys.includes(slot) ? ' (for the cursor)' : ' (record exists)';
}

function explainOrder({ path, ascending }: Order): string {
  return `${path.id}${ascending ? '' : ' descending'}`;
}

function explainFilter(filter: Filter): string {
  switch (filter.op) {
    case 'and':
    case 'or':
      return `(${filter.of.map(explainFilter).join(` ${filter.op} `)})`;
    case 'not':
      return `not ${explainFilter(filter.of)}`;
    case 'test':
      return `${filter.path.id} ${filter.is}${explainValue(filter.value)}`;
    case 'compare':
      return `${explainExpression(filter.left)} ${filter.is} ${explainExpression(filter.right)}`;
    case 'some': {
      const { own, other, after } = filter;
      const before = after ? ` before it by ${after.map(({ id }) => id).join(', ')}` : '';
      const pairs = other.keys.map((key, at) => `${key.id} = ${own[at]!.id}`).join(' and ');
      return `some ${other.collection.name} on ${pairs}${before}${explainJoins(other.joins)} where ${explainFilter(other.where)}`;
    }
    case 'found':
      return `${filter.own.id} among ${filter.lookup.query.collection.name}:${filter.lookup.query.select[0]!.name}`;
    default:
      return filter.op;
  }
}

function explainValue(value: unknown): string {
  if (value === null) return '';
  return Array.isArray(value) ? ` [${value.length}]` : ' ?';
}
