// A plan as text, for people and for golden files. Values are left out: `?`, or how many there are.
import { idOf } from './paths.ts';
import type { Filter, Order, Query, ReadPlan, Step } from './types.ts';

export function explainRead(query: Query, plan: ReadPlan): string {
  const lines = [`list ${query.collection.name}`];
  const { select } = plan;
  if (!select) return `${lines[0]}\n  nothing: no record can match\n`;
  lines.push('  columns');
  for (const [slot, path] of select.columns.entries()) lines.push(`    ${slot} ${path.id}${roleOf(slot, plan)}`);
  if (query.select.length)
    lines.push(`  answer ${query.select.map((named, index) => `${named.name}=${plan.columns[index]}`).join(' ')}`);
  for (const join of select.joins) {
    const { to, on } = join.via.at(-1)!;
    const pairs = on.map(({ from, to: other }) => `${from.column} = ${other.column}`).join(' and ');
    const where = join.where.op === 'always' ? '' : ` where ${explainFilter(join.where)}`;
    lines.push(`  join ${idOf(join.via)} to ${to.name} on ${pairs}${where}`);
  }
  lines.push(`  where ${explainFilter(select.where)}`);
  lines.push(`  order ${select.order.map(explainOrder).join(', ') || 'none'}`);
  const isSliced = plan.steps.some((step) => step.kind === 'slice');
  if (isSliced) lines.push(`  limit ${select.limit}, to be read whole`);
  else if (query.limit !== null) lines.push(`  limit ${query.limit} + 1${query.skip ? ` after ${query.skip}` : ''}`);
  lines.push('  sql');
  for (const line of plan.source.explain(select).trimEnd().split('\n')) lines.push(`    ${line}`);
  for (const step of [...plan.steps, ...plan.finish]) lines.push(`  ${explainStep(step)}`);
  return `${lines.join('\n').replaceAll('\0scope', ' (scope)').replaceAll('\0removed', ' (removed)')}\n`;
}

function usesSlot(step: Step, slot: number): boolean {
  if (step.kind === 'compute') return step.from.includes(slot);
  if (step.kind === 'keep') return [...step.slots.values()].includes(slot);
  return step.kind === 'sort' && step.by.some((each) => each.slot === slot);
}

function explainStep(step: Step): string {
  switch (step.kind) {
    case 'bound':
      return `then refuse more rows than that, because of ${step.field}`;
    case 'compute': {
      const guard = step.guard === null ? '' : ` unless ${step.guard} is null`;
      return `then compute ${step.into} ${step.path.id} from ${step.from.join(' ')}${guard}`;
    }
    case 'keep':
      return `then keep ${explainFilter(step.where)}`;
    case 'sort':
      return `then sort by ${step.by.map(({ slot, order }) => `${slot} ${explainOrder(order)}`).join(', ')}`;
    case 'slice':
      return `then take ${step.limit - 1} + 1${step.skip ? ` after ${step.skip}` : ''}`;
  }
}

function roleOf(slot: number, plan: ReadPlan): string {
  if (plan.columns.includes(slot)) return '';
  const isNeeded = [...plan.steps, ...plan.finish].some((step) => usesSlot(step, slot));
  if (isNeeded) return ' (for what comes after)';
  return plan.keys.includes(slot) ? ' (for the cursor)' : ' (whether there is a record)';
}

function explainOrder({ path, ascending }: Order): string {
  return `${path.id}${ascending ? '' : ' descending'}`;
}

export function explainFilter(filter: Filter): string {
  switch (filter.op) {
    case 'and':
    case 'or':
      return `(${filter.of.map(explainFilter).join(` ${filter.op} `)})`;
    case 'not':
      return `not ${explainFilter(filter.of)}`;
    case 'test':
      return `${filter.path.id} ${filter.is}${explainValue(filter.value)}`;
    default:
      return filter.op;
  }
}

function explainValue(value: unknown): string {
  if (value === null) return '';
  return Array.isArray(value) ? ` [${value.length}]` : ' ?';
}
