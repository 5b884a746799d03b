// The shape of a statement: everything except its values. Statements of one shape share their SQL text, which is cached
// by this key. The walk that computes the key also collects the values, in the order of the text's placeholders.
import type { CountSelect, Filter, GroupSelect, Join, Path, Select, SourceRelation } from '../../statement.ts';
import type { Codec, Dialect } from '../codec.ts';

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

/** `codecOf` takes the names of the database. */
export function createShapes(dialect: Dialect, codecOf: (table: string, column: string) => Codec): Shapes {
  const pathFacts = new WeakMap<Path, PathFacts>();
  const relationIds = new WeakMap<SourceRelation, number>();
  let last = 0;

  function facts(path: Path, rootTable: string): PathFacts {
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
    let key = 'j';
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

  function ofGroup({ table, operation, value, groups, order, limit, skip = 0 }: GroupSelect): string {
    let key = `\n${operation}${value ? facts(value, table).id : ''}`;
    for (const { path, bucket } of groups)
      key += `,${facts(path, table).id}${bucket ? `${bucket.unit} ${bucket.offsets?.zone ?? ''}` : ''}`;
    for (const { by, ascending } of order) key += `;${by}${ascending ? '+' : '-'}`;
    return limit === undefined ? key : `${key}L${limit}S${skip}`;
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
      let key = table + condition(statement, table, values);
      if ('operation' in statement) return key + ofGroup(statement);
      if (!('columns' in statement)) return `${key}#`;
      key += '\n';
      for (const column of statement.columns) key += `${facts(column, table).id},`;
      for (const { path, ascending } of statement.order) key += `${facts(path, table).id}${ascending ? '+' : '-'}`;
      if (statement.limit !== undefined) key += `L${statement.limit}`;
      if (statement.lock) key += 'U';
      if (statement.referencedBy) key += `H${JSON.stringify(statement.referencedBy)}`;
      if (statement.skip) {
        key += dialect === 'mysql' ? `S${statement.skip}` : 'S';
        if (dialect !== 'mysql') values.push(statement.skip);
      }
      return key;
    },
  };
}

/** Every chain of relations in the filter's paths, parents before children. */
export function collectVias(filter: Filter): (readonly SourceRelation[])[] {
  const found = new Map<string, readonly SourceRelation[]>();
  const add = ({ via: whole }: Path): void =>
    whole.forEach((_, at) => {
      const via = whole.slice(0, at + 1);
      const id = via.map((relation) => relation.name).join(':');
      if (!found.has(id)) found.set(id, via);
    });
  const visit = (part: Filter): void => {
    if (part.op === 'test') add(part.path);
    else if (part.op === 'some') part.own.forEach(add);
    else if (part.op === 'not') visit(part.of);
    else if (part.op === 'and' || part.op === 'or') part.of.forEach(visit);
  };
  visit(filter);
  return [...found.values()];
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
