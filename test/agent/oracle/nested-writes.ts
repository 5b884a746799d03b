// What it means to write records together with related ones. Records that they point to come first: existing ones are
// updated, others are created. Then come the records, then those that point to them. The model collects every possible
// error, and never stops halfway.
import type { Row } from '../../../src/agent/sources/statement.ts';
import { type Meaning, matches, visible } from './interpreter.ts';
import type { WorldRelation, WorldTable } from './world.ts';
import { conflictsOf, type Given, isHalfWritten, mark, pointsOutOfSight } from './writes.ts';

interface Draft {
  readonly values: Record<string, unknown>;
  readonly related: Map<string, Draft>;
}

/** A row by its index, since a write replaces the row. */
export interface Place {
  readonly table: string;
  readonly index: number;
}

export class Story {
  readonly codes = new Set<string>();
  /**
   * Codes for a step on the way, even if the final state is valid. Databases check each statement, and the write itself
   * may change a related record again.
   */
  readonly possible = new Set<string>();
  readonly #meaning: Meaning;
  /** With the rows before the write. */
  readonly #before: Meaning;
  readonly #rows: Map<string, Row[]>;

  constructor(meaning: Meaning) {
    this.#rows = new Map(meaning.world.tables.map(({ name, rows }) => [name, [...rows]]));
    this.#before = meaning;
    const tables = meaning.world.tables.map((each) => ({ ...each, rows: this.#rows.get(each.name)! }));
    this.#meaning = { ...meaning, world: { ...meaning.world, tables } };
  }

  get tables(): readonly WorldTable[] {
    return this.#meaning.world.tables;
  }

  table(name: string): WorldTable {
    return this.tables.find((each) => each.name === name)!;
  }

  row({ table, index }: Place): Row {
    return this.#rows.get(table)![index]!;
  }

  create(name: string, given: readonly Given[]): Place[] {
    const drafts = given.map((each) => this.#read(name, each));
    for (const draft of drafts) this.#check(name, draft, true);
    return this.#create(name, drafts, pointersOf(this.table(name), drafts));
  }

  /**
   * Whether the given values, at any depth, point to a record that the caller cannot find, or set only part of a key. A
   * write that is refused for its own records may be refused for this instead.
   */
  pointsAmiss(name: string, given: Given): boolean {
    return this.#isAmiss(this.table(name), this.#read(name, given));
  }

  #isAmiss(table: WorldTable, { values, related }: Draft): boolean {
    return table.relations.some((relation) => {
      const inner = related.get(relation.name);
      if (inner && this.#isAmiss(this.table(relation.to), inner)) return true;
      if (relation.inverse || !relation.from.some((column) => column in values)) return false;
      const tuple = relation.from.map((column) => values[column]);
      if (tuple.includes(undefined)) return true;
      return !tuple.includes(null) && this.#find(relation, [tuple]).length === 0;
    });
  }

  /** `asked` also counts records that do not exist. */
  update(places: readonly Place[], name: string, given: Given, asked: number): void {
    const draft = this.#read(name, given);
    this.#check(name, draft, false);
    const { key } = this.table(name);
    if (asked > 1 && key.some((column) => column in draft.values)) this.codes.add('INVALID_ARGUMENT');
    if (places.length) this.#update(places, draft, pointersOf(this.table(name), [draft]));
  }

  /** The values as written, with the replacements that code makes. */
  #read(name: string, given: Given): Draft {
    const table = this.table(name);
    const draft: Draft = { values: {}, related: new Map() };
    const ends = new Map<string, Record<string, unknown>>();
    for (const [path, value] of Object.entries(given)) {
      const relation = table.relations.find((each) => path === each.name || path.startsWith(`${each.name}:`));
      if (!relation || table.columns.some((column) => column.name === path)) {
        this.#replace(name, draft, path, value, ends);
        continue;
      }
      const inner = path === relation.name ? (value as object) : { [path.slice(relation.name.length + 1)]: value };
      this.#join(ends, relation.name, inner);
    }
    for (const [relation, inner] of ends) {
      const { to } = table.relations.find((each) => each.name === relation)!;
      draft.related.set(relation, this.#read(to, inner));
    }
    return draft;
  }

  #replace(name: string, { values }: Draft, path: string, value: unknown, ends: Map<string, Record<string, unknown>>) {
    const { copy, far } = this.#meaning.world.writing?.get(name) ?? {};
    const put = (column: string) => {
      if (column in values && JSON.stringify(values[column]) !== JSON.stringify(value))
        this.codes.add('INVALID_RECORD');
      values[column] = value;
    };
    if (far?.field === path) {
      this.#join(ends, far.relation, { [far.column]: value });
      return;
    }
    put(path);
    if (copy?.from === path) put(copy.to);
  }

  #join(ends: Map<string, Record<string, unknown>>, relation: string, inner: object): void {
    const known = ends.get(relation) ?? {};
    for (const [path, value] of Object.entries(inner)) {
      if (path in known && JSON.stringify(known[path]) !== JSON.stringify(value)) this.codes.add('INVALID_RECORD');
      known[path] = value;
    }
    ends.set(relation, known);
  }

  #check(name: string, { values, related }: Draft, isNew: boolean): void {
    const table = this.table(name);
    const pointed = table.relations.filter((relation) => !relation.inverse && related.has(relation.name));
    const isMissing = (column: string) =>
      isNew && !(column in values) && !pointed.some(({ from }) => from.includes(column));
    for (const { name: column, nullable } of table.columns) {
      if (nullable) continue;
      if (isMissing(column) || values[column] === null) this.codes.add('INVALID_RECORD');
    }
    for (const { field, operator, value } of this.#meaning.world.writing?.get(name)?.rules ?? []) {
      const given = values[field];
      if (given === undefined ? isNew && operator === 'Present' : given === null && operator === 'Present')
        this.codes.add('INVALID_RECORD');
      if (given === undefined || given === null) continue;
      const row = table.columns.map((column) => (column.name === field ? given : null));
      const leaf = { field, operator, ...(value !== undefined && { value }) };
      if (!matches(this.#meaning, table, row, leaf, 'UTC', false)) this.codes.add('INVALID_RECORD');
    }
    for (const [relation, inner] of related)
      this.#check(table.relations.find((each) => each.name === relation)!.to, inner, false);
  }

  #create(name: string, drafts: readonly Draft[], pointers: ReadonlySet<string>): Place[] {
    const table = this.table(name);
    const values = drafts.map((draft) => ({ ...draft.values }));
    const relations = relationsOf(table, drafts);
    for (const relation of relations.filter(({ inverse }) => !inverse)) {
      const made: { readonly inner: Draft; readonly into: Record<string, unknown> }[] = [];
      for (const [index, { related }] of drafts.entries()) {
        const inner = related.get(relation.name);
        if (!inner) continue;
        const tuple = this.#pointed(relation, values[index]!);
        if (tuple) this.#updateEnds(relation, [tuple], inner);
        else made.push({ inner, into: values[index]! });
      }
      this.#createEnds(relation, made);
    }
    const rows = this.#rows.get(name)!;
    const places = values.map((record) => {
      const row = table.columns.map((column) => (column.name in record ? record[column.name] : null));
      return { table: name, index: rows.push(row) - 1 };
    });
    for (const relation of relations.filter(({ inverse }) => inverse)) {
      const inners = drafts.flatMap(({ related }, index) => {
        const inner = related.get(relation.name);
        return inner ? [this.#pointing(relation, inner, places[index]!)] : [];
      });
      this.#createBehind(relation, inners);
    }
    this.#judge(places, new Set([...drafts.flatMap((draft) => Object.keys(draft.values)), ...pointers]));
    return places;
  }

  #update(places: readonly Place[], { values, related }: Draft, pointers: ReadonlySet<string>): void {
    const name = places[0]!.table;
    const table = this.table(name);
    const own = places.map(() => ({ ...values }));
    const before = places.map((place) => this.row(place));
    for (const relation of table.relations) {
      const inner = related.get(relation.name);
      if (!inner) continue;
      if (relation.inverse) {
        this.#writeBehind(relation, inner, places, values);
        continue;
      }
      const tuple = this.#pointed(relation, values);
      const tuples = new Map<string, readonly unknown[]>();
      const made: { readonly inner: Draft; readonly into: Record<string, unknown> }[] = [];
      for (const [index, row] of before.entries()) {
        const held = tuple ?? relation.from.map((column) => row[at(table, column)]);
        if (held.includes(null)) made.push({ inner, into: own[index]! });
        else tuples.set(mark(held), held);
      }
      if (tuples.size) this.#updateEnds(relation, [...tuples.values()], inner);
      this.#createEnds(relation, made);
    }
    for (const [index, place] of places.entries()) {
      const row = this.row(place);
      const next = table.columns.map((column, slot) =>
        column.name in own[index]! ? own[index]![column.name] : row[slot],
      );
      this.#rows.get(name)![place.index] = next;
    }
    this.#judge(places, new Set([...Object.keys(values), ...pointers]));
  }

  #pointed({ from }: WorldRelation, values: Record<string, unknown>): readonly unknown[] | undefined {
    const given = from.map((column) => values[column]);
    if (given.every((value) => value === undefined)) return undefined;
    if (given.some((value) => value === undefined || value === null)) this.codes.add('INVALID_RECORD');
    return given.map((value) => value ?? null);
  }

  #createEnds({ to, from, target }: WorldRelation, made: readonly { inner: Draft; into: Record<string, unknown> }[]) {
    if (made.length === 0) return;
    for (const { inner } of made) this.#check(to, inner, true);
    const places = this.#create(
      to,
      made.map(({ inner }) => inner),
      new Set(),
    );
    for (const [index, { into }] of made.entries())
      for (const [part, column] of from.entries())
        into[column] = this.row(places[index]!)[at(this.table(to), target[part]!)];
  }

  #updateEnds(relation: WorldRelation, tuples: readonly (readonly unknown[])[], inner: Draft): void {
    const places = this.#find(relation, tuples);
    if (places.length !== tuples.length) this.codes.add('INVALID_RECORD');
    if (places.length) this.#update(places, inner, new Set());
  }

  #writeBehind(relation: WorldRelation, inner: Draft, places: readonly Place[], values: Record<string, unknown>): void {
    if (relation.from.some((column) => column in values)) this.codes.add('INVALID_RECORD');
    const table = this.table(places[0]!.table);
    const tuples = places.map((place) => relation.from.map((column) => this.row(place)[at(table, column)]));
    const found = this.#find(relation, tuples);
    const end = this.table(relation.to);
    const there = new Set(
      found.map((place) => mark(relation.target.map((column) => this.row(place)[at(end, column)]))),
    );
    if (found.length) this.#update(found, inner, new Set());
    const missing = places.filter((_, index) => !there.has(mark(tuples[index]!)));
    this.#createBehind(
      relation,
      missing.map((place) => this.#pointing(relation, inner, place)),
    );
  }

  #createBehind({ to }: WorldRelation, inners: readonly Draft[]): void {
    if (inners.length === 0) return;
    for (const inner of inners) this.#check(to, inner, true);
    this.#create(to, inners, new Set());
  }

  #pointing({ from, target }: WorldRelation, { values, related }: Draft, place: Place): Draft {
    const table = this.table(place.table);
    const keys = target.map((column, part) => [column, this.row(place)[at(table, from[part]!)]]);
    return { values: { ...values, ...Object.fromEntries(keys) }, related };
  }

  /** Only the records that the caller sees now. */
  #find({ to, target }: WorldRelation, tuples: readonly (readonly unknown[])[]): Place[] {
    const table = this.table(to);
    const wanted = new Set(tuples.map(mark));
    return table.rows.flatMap((row, index) =>
      wanted.has(mark(target.map((column) => row[at(table, column)]))) && visible(this.#meaning, table, row)
        ? [{ table: to, index }]
        : [],
    );
  }

  #judge(places: readonly Place[], written: ReadonlySet<string>): void {
    for (const place of places) {
      const table = this.table(place.table);
      const row = this.row(place);
      this.#refuseWhere('FORBIDDEN', (meaning) => !visible(meaning, table, row));
      this.#refuseWhere('INVALID_RECORD', (meaning) => pointsOutOfSight(meaning, table, row, written));
    }
    for (const code of conflictsOf(this.#meaning.world)) this.possible.add(code);
    for (const place of places)
      if (isHalfWritten(this.#meaning, this.table(place.table), written)) this.possible.add('INVALID_RECORD');
  }

  /**
   * Another source is queried before the write starts. It does not find records that the write itself creates, and
   * still finds records that the write itself hides.
   */
  #refuseWhere(code: string, isWrong: (meaning: Meaning) => boolean): void {
    const after = isWrong(this.#meaning);
    const before = this.#before.world.away ? isWrong(this.#before) : after;
    if (after && before) this.codes.add(code);
    else if (after || before) this.possible.add(code);
  }
}

const at = (table: WorldTable, name: string) => table.columns.findIndex((column) => column.name === name);

function relationsOf(table: WorldTable, drafts: readonly Draft[]): WorldRelation[] {
  const names = new Set(drafts.flatMap(({ related }) => [...related.keys()]));
  return [...names].map((name) => table.relations.find((each) => each.name === name)!);
}

/** The columns that point to records of the same write. */
function pointersOf(table: WorldTable, drafts: readonly Draft[]): ReadonlySet<string> {
  const outgoing = relationsOf(table, drafts).filter(({ inverse }) => !inverse);
  return new Set(outgoing.flatMap(({ from }) => from));
}
