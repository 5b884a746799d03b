// The shape of a statement: everything except its values. Statements of one shape share their SQL text, which is cached
// by this key. The walk that computes the key also collects the values, in the order of the text's placeholders.

import { operandsOf } from '../../aggregate/expression.ts';
import type {
  Constant,
  CountSelect,
  Expression,
  Filter,
  GroupSelect,
  Join,
  Measure,
  Path,
  RelatedRows,
  Select,
  SourceRelation,
} from '../../statement.ts';
import { readDecimal } from '../../values/decimal.ts';
import type { Codec, Dialect } from '../codec.ts';
import { afterForm, latePage, pageParts } from './order.ts';

/** The source's facts about a path, cached by the path object; each field has a single one. */
interface PathFacts {
  readonly id: number;
  readonly codec: Codec;
}

export interface Shapes {
  /** The key of the statement; appends its values to `values`. */
  key(statement: Select | CountSelect | GroupSelect, values: unknown[]): string;
  /** The part of a key for a condition; appends its values to `values`. */
  condition(condition: Pick<CountSelect, 'joins' | 'where'>, table: string, values: unknown[]): string;
  facts(path: Path, rootTable: string): PathFacts;
  /** Takes the names of the database. */
  codecOf(table: string, column: string): Codec;
}

/** The columns whose texts are cut, and the characters of a text that remain. */
export interface Cut {
  readonly characters: number;
  readonly columns: readonly number[];
}

/** The SQL of a cut column is long, and PostgreSQL's functions take at most 100 arguments. */
const MAX_CUT_COLUMNS = 50;

/** Undefined if no text of the select may be long. */
export function cutOf({ cut, columns }: Select, codecOf: (path: Path) => Codec): Cut | undefined {
  const long = cut?.columns.filter((at) => codecOf(columns[at]!).units).slice(0, MAX_CUT_COLUMNS);
  return cut && long?.length ? { characters: cut.characters, columns: long } : undefined;
}

/** `codecOf` takes the names of the database. */
export function createShapes(dialect: Dialect, codecOf: (table: string, column: string) => Codec): Shapes {
  const pathFacts = new WeakMap<Path, PathFacts>();
  const relationIds = new WeakMap<SourceRelation, number>();
  let last = 0;

  function facts(path: Path, rootTable: string): PathFacts {
    if (path.measure !== undefined) return { id: -1 - path.measure, codec: ofFigures };
    let found = pathFacts.get(path);
    if (!found) {
      const table = path.via.at(-1)?.to.table ?? rootTable;
      found = { id: ++last, codec: codecOf(table, path.field.column) };
      pathFacts.set(path, found);
    }
    return found;
  }

  function relationId(relation: SourceRelation): number {
    let id = relationIds.get(relation);
    if (id === undefined) {
      id = ++last;
      relationIds.set(relation, id);
    }
    return id;
  }

  function ofJoin(join: Join, values: unknown[]): string {
    let key = join.isComplete ? 'i' : 'j';
    for (const relation of join.via) key += `${relationId(relation)}.`;
    const { only, to } = join.via.at(-1)!;
    if (only) values.push(only.value);
    return `${key}(${condition(join, to.table, values)})`;
  }

  function ofFilter(filter: Filter, table: string, values: unknown[]): string {
    switch (filter.op) {
      case 'always':
        return 'T';
      case 'never':
        return 'F';
      case 'not':
        return `!${ofFilter(filter.of, table, values)}`;
      case 'test': {
        const { id, codec } = facts(filter.path, table);
        const value = boundValue(filter, dialect);
        if (value === undefined) return `${filter.is}${id}N;`;
        values.push(value);
        return `${filter.is}${id}${kindOf(codec, value)}${sizeOf(value, dialect)};`;
      }
      case 'compare': {
        const left = ofExpression(filter.left, table, values);
        return `${filter.is}(${left},${ofExpression(filter.right, table, values)})`;
      }
      case 'some': {
        const { own, other, after } = filter;
        const ids = (paths: readonly Path[], home: string) => paths.map((path) => facts(path, home).id).join();
        const foreign = other.collection.table;
        const order = after ? `<${ids(after, table)}` : '';
        return `?${ids(own, table)}>${ids(other.keys, foreign)}${order}(${condition(other, foreign, values)})`;
      }
      case 'any':
        throw new Error(`the target of '${filter.relation.name}' has not been planned`);
      case 'found':
        throw new Error(`the values for '${filter.own.id}' have not been looked up`);
      default: {
        let key = filter.op === 'and' ? '&(' : '|(';
        for (const part of filter.of) key += ofFilter(part, table, values);
        return `${key})`;
      }
    }
  }

  /** Collects values in the order in which statements/aggregate.ts numbers them. */
  function ofGroup(
    { table, measures, groups, order, limit, skip = 0, merged, bounds = [], having, hidesFigures, totals }: GroupSelect,
    values: unknown[],
  ): string {
    let key = '\n';
    const subqueries = new Set<string>();
    for (const measure of measures) {
      const { operation, of, where, fraction, related } = measure;
      if (related) {
        const id = subqueryId(measure, related);
        if (!subqueries.has(id)) key += ofRelated(related, table, values);
        subqueries.add(id);
        key += `${id}:${operation}${of ? ofExpression(of, related.collection.table, values) : ''}`;
        continue;
      }
      key += `${operation}${fraction ? `${fraction.units}/${fraction.scale}` : ''}`;
      if (where) key += `{${ofFilter(where, table, values)}}`;
      if (of) key += ofExpression(of, table, values);
    }
    const known = new Set<string>();
    for (const { path, by, related } of groups) {
      if (related && !known.has(related.id)) key += ofRelated(related, table, values);
      if (related) known.add(related.id);
      key += `,${related?.id ?? ''}:${facts(path, related?.collection.table ?? table).id}`;
      if (!by) continue;
      if (by.kind !== 'ranges') key += `${by.unit} ${by.offsets?.zone ?? ''}`;
      else
        for (const bound of by.bounds)
          key += `[${ofConstant({ op: 'constant', type: 'Number', value: bound }, values)}`;
    }
    for (const { by, index, ascending } of order) key += `;${by[0]}${index}${ascending ? '+' : '-'}`;
    if (merged) key += `;=${merged.join()}`;
    if (totals) key += `;+${totals.map(({ operation, measure = '' }) => `${operation}${measure}`).join()}`;
    for (const { measure, is, value } of bounds) key += `;${measure}${is}${value}`;
    if (having) key += `;?${ofFilter(having, table, values)}`;
    if (hidesFigures) key += ';H';
    return limit === undefined ? key : `${key}L${limit}S${skip}`;
  }

  function ofPage(select: Select, values: unknown[]): string {
    const late = latePage(select);
    if (late) return `${ofPage(late.keys, values)}K${ofPage(late.rows, values)}`;
    const [part, second] = pageParts(select, { dialect, codecOf: (path) => facts(path, select.table).codec });
    let key = ofSelect(part, values);
    if (second) key += `\n\n${ofSelect(second, values)}L${select.limit}`;
    const cut = cutOf(select, (path) => facts(path, select.table).codec);
    if (cut) key += `C${cut.characters}:${cut.columns.join()}`;
    if (!select.skip) return key;
    if (dialect === 'mysql') return `${key}S${select.skip}`;
    values.push(select.skip);
    return `${key}S`;
  }

  function ofSelect(select: Select, values: unknown[]): string {
    const { table } = select;
    let key = `${table}${condition(select, table, values)}\n`;
    for (const column of select.columns) key += `${facts(column, table).id},`;
    for (const { path, ascending } of select.order) key += `${facts(path, table).id}${ascending ? '+' : '-'}`;
    if (select.after) key += ofAfter(select, values);
    if (select.limit !== undefined) key += `L${select.limit}`;
    if (select.lock) key += 'U';
    if (select.referencedBy) key += `H${JSON.stringify(select.referencedBy)}`;
    return key;
  }

  function ofAfter(select: Select, values: unknown[]): string {
    const { table } = select;
    const codecOf = (path: Path) => facts(path, table).codec;
    const form = afterForm(select, { dialect, codecOf });
    if (!form) return '';
    if (!form.row) return `A${ofFilter(form.filter, table, values)}`;
    values.push(...form.values);
    return `A${form.sign}${form.row.map((path, at) => kindOf(codecOf(path), form.values[at])).join()}`;
  }

  function ofRelated(
    { own, keys, ownWhere, collection, ...rows }: RelatedRows,
    table: string,
    values: unknown[],
  ): string {
    const ids = (paths: readonly Path[], home: string) => paths.map((path) => facts(path, home).id).join();
    const foreign = collection.table;
    const key = `~${ids(own, table)}>${ids(keys, foreign)}(${condition(rows, foreign, values)})`;
    return `${key}${ofFilter(ownWhere, table, values)}`;
  }

  function ofExpression(expression: Expression, table: string, values: unknown[]): string {
    if (expression.op === 'field') return `f${facts(expression.path, table).id}`;
    if (expression.op === 'constant') return ofConstant(expression, values);
    const operands = operandsOf(expression);
    const unit = 'unit' in expression ? `${expression.unit} ${expression.offsets?.zone ?? ''}` : '';
    const decimals = expression.op === 'dividedBy' ? expression.decimals : '';
    return `${expression.op}${unit}${decimals}(${operands.map((each) => ofExpression(each, table, values)).join()})`;
  }

  /** The number of decimals is part of the text. */
  function ofConstant({ type, value }: Constant, values: unknown[]): string {
    values.push(value);
    return `c${type}${type === 'Number' ? decimalsOf(value) : ''}`;
  }

  function condition({ joins, where }: Pick<CountSelect, 'joins' | 'where'>, table: string, values: unknown[]): string {
    let key = '';
    for (const join of joins) key += ofJoin(join, values);
    return `${key}\n${ofFilter(where, table, values)}`;
  }

  return {
    codecOf,
    facts,
    condition,
    key(statement, values) {
      const { table } = statement;
      if ('columns' in statement) return ofPage(statement, values);
      const key = table + condition(statement, table, values);
      return 'measures' in statement ? key + ofGroup(statement, values) : `${key}#`;
    },
  };
}

/** Of the figures that conditions compare. */
const ofFigures = { type: 'Number' } as Codec;

/** Whether the values of the measure are long, and are named in a subquery of their own. */
export const isOfValues = ({ of }: Measure): boolean => of !== undefined && of.op !== 'field';

/** Measures with the same one share a subquery. */
export const subqueryId = (measure: Measure, { id }: RelatedRows): string => (isOfValues(measure) ? `${id}()` : id);

/** The number of decimals of a canonical Number. */
export function decimalsOf(value: unknown): number {
  return readDecimal(value)?.scale ?? 0;
}

type Test = Extract<Filter, { op: 'test' }>;

/** The value a test binds. Returns undefined for `Missing` and for equality with null, which is a test of presence. */
export function boundValue(test: Test, dialect: Dialect): unknown {
  const { is, value } = test;
  if (is === 'Missing' || value === null || value === undefined) return undefined;
  if (is !== 'In' && is !== 'NotIn') return value;
  const list = (Array.isArray(value) ? value : [value]).filter((item) => item !== null && item !== undefined);
  return dialect === 'postgres' || list.length < 2 ? list : [...new Set(list)];
}

/** The kind of a value. For a list, the kind of its first item that is not plain. */
export function kindOf(codec: Codec, value: unknown): string {
  const of = codec.kindOf;
  if (!of) return '';
  if (!Array.isArray(value)) return of(value);
  const plain = of(0);
  return value.map(of).find((kind) => kind !== plain) ?? plain;
}

/**
 * The number of placeholders for a list: the next power of two, which lets lists of similar length share a text. `one`
 * if a single placeholder takes the whole list.
 */
export function placeholders(list: readonly unknown[], dialect: Dialect): number | 'one' {
  if (list.length === 0) return 0;
  if (dialect === 'postgres') return 'one';
  if (dialect === 'sqlite' && list.length > 256 && !Buffer.isBuffer(list[0])) return 'one';
  return 2 ** Math.ceil(Math.log2(list.length));
}

function sizeOf(value: unknown, dialect: Dialect): string {
  return Array.isArray(value) ? `*${placeholders(value, dialect)}` : '';
}
