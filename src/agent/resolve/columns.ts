// Resolves the columns of a list that are not fields (core/filter/columns.ts): expressions over the record, and figures
// of the related records. Every name is looked up with the rights of the caller.
import { fail, isAppError } from '../../core/errors.ts';
import { MAX_COLUMNS, type PlainColumn } from '../../core/filter/columns.ts';
import { fieldNames, mapFieldNames, type PlainExpression } from '../../core/filter/expression.ts';
import type { PlainMeasures } from '../../core/filter/measures.ts';
import type { Collection, Moment, Relation } from '../model/types.ts';
import type { Expression, Path } from '../plan/types.ts';
import { type ColumnOf, formatType, resolveExpression, typeOf } from './expression.ts';
import { findToMany, type ToManySplit } from './filter.ts';
import { figureColumn } from './having.ts';
import { resolveMeasures } from './measures.ts';
import { resolveName } from './names.ts';
import { relationPathId } from './paths.ts';
import type { BaseMeasure } from './resolved-measures.ts';
import type { CollectionView } from './visibility.ts';

export interface FigureColumn {
  readonly kind: 'figure';
  readonly name: string;
  readonly measure: BaseMeasure & { readonly many: ToManySplit };
  readonly at: string;
  /** Stands for the figure in expressions and conditions. */
  readonly path: Path;
}

interface ExpressionColumn {
  readonly kind: 'expression';
  readonly name: string;
  /** Its paths may be those of figures. */
  readonly of: Expression;
  readonly at: string;
}

export type ResolvedColumn = ExpressionColumn | FigureColumn;

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });
const kinds = ['count', 'countDistinct', 'sum', 'avg', 'min', 'max'] as const;
type Kind = (typeof kinds)[number];
const form =
  'send {"name":"orders_count","count":"orders"}, {"name":"last_order","max":"orders:placed_at"} (or min, sum, avg, countDistinct; each with an optional where), or {"name":"net","expression":{"minus":["total","fee"]}}.';
const MAX_NAME_CHARACTERS = 100;

/** Throws INVALID_ARGUMENT and the errors of `resolveName`. */
export function resolveColumns(view: CollectionView, plain: readonly PlainColumn[], moment: Moment): ResolvedColumn[] {
  if (plain.length > MAX_COLUMNS) invalid('fields', `at most ${MAX_COLUMNS} columns that are not fields.`);
  const parts = new Map<string, Parts>();
  for (const column of plain) {
    const name = readName(view, column);
    if (parts.has(name)) invalid('fields', `two columns have the name '${name}'.`);
    parts.set(name, column as unknown as Parts);
  }
  const figures = new Map<string, FigureColumn>();
  for (const [name, column] of parts) {
    const figure = readFigure(view, column, name, moment);
    if (figure) figures.set(name, figure);
  }
  const columnOf: ColumnOf = (name) => figures.get(name)?.path;
  return [...parts].map(
    ([name, column]) => figures.get(name) ?? readExpression(view, column, name, { moment, columnOf }),
  );
}

type Parts = Readonly<Record<string, unknown>>;

function readName(view: CollectionView, column: PlainColumn): string {
  const name = typeof column === 'object' && column !== null ? (column.name as unknown) : undefined;
  if (typeof name !== 'string' || name.trim() === '' || name.length > MAX_NAME_CHARACTERS)
    return invalid(
      'fields',
      `a column that is not a field has a name of 1 to ${MAX_NAME_CHARACTERS} characters: ${form}`,
    );
  const { collection, visibility } = view;
  const field = visibility.fields(collection).get(name);
  if (field && visibility.canSee(collection, field)) {
    const form = { ...column, name: `${name}_${kinds.find((kind) => kind in column) ?? 'value'}` };
    invalid(`fields.${name}`, `is a field or relation of '${collection.name}': send ${JSON.stringify(form)}.`);
  }
  return name;
}

/** Undefined for an expression. */
function readFigure(view: CollectionView, column: Parts, name: string, moment: Moment): FigureColumn | undefined {
  const at = `fields.${name}`;
  const kind = kinds.find((each) => each in column);
  const known = ['name', kind ?? 'expression', ...(kind ? ['where'] : [])];
  const other = Object.keys(column).find((key) => !known.includes(key));
  if (other !== undefined) return invalid(`${at}.${other}`, `unknown here: ${form}`);
  if (!kind) return undefined;
  const measure = resolveFigure(view, column, kind, at, moment);
  return { kind: 'figure', name, at, measure, path: { id: name, via: [], field: figureColumn(measure, [measure]) } };
}

function readExpression(
  view: CollectionView,
  column: Parts,
  name: string,
  context: { readonly moment: Moment; readonly columnOf: ColumnOf },
): ExpressionColumn {
  const at = `fields.${name}`;
  if (!('expression' in column)) return invalid(at, form);
  const of = resolveExpression(view, column.expression as PlainExpression, { ...context, at: `${at}.expression` });
  const type = typeOf(of);
  if (typeof type !== 'string' || type === 'Binary' || type === 'Json' || type === 'Point')
    invalid(`${at}.expression`, `is ${formatType(type)}. Name the field itself in fields.`);
  return { kind: 'expression', name, of, at };
}

/** The names of the measure start at the related record. */
function resolveFigure(
  view: CollectionView,
  column: Parts,
  kind: Kind,
  at: string,
  moment: Moment,
): BaseMeasure & { readonly many: ToManySplit } {
  const { [kind]: given, where } = column;
  const whole = kind === 'count' && typeof given === 'string' ? findRelated(view, given) : undefined;
  const { many, of } = whole ? { many: whole, of: true as const } : splitExpression(view, given, kind, `${at}.${kind}`);
  if (where !== undefined && (typeof where !== 'object' || where === null))
    invalid(`${at}.where`, 'send a filter on the related record: {"field":"...","operator":"...","value":"..."}.');
  const related = view.forCollection(many.relation.to);
  const measures = { column: { [kind]: of, ...(where !== undefined && { where }) } } as unknown as PlainMeasures;
  const [measure] = withArgument('measures.column', at, () => resolveMeasures(related, measures, moment)) as [
    BaseMeasure,
  ];
  return { ...measure, name: String(column.name), at, many };
}

/** The to-many relation, or two, that the whole text names. */
function findRelated(view: CollectionView, text: string): ToManySplit | undefined {
  const found = findFigure(view, `${text}:*`);
  return found?.rest === '*' ? found : undefined;
}

/** Splits a path behind its to-many relations: one, or two without a through collection. */
function findFigure(view: CollectionView, text: string): ToManySplit | undefined {
  const first = findToMany(view, text);
  const second = first && findToMany(view.forCollection(first.relation.to), first.rest);
  if (!second) return first;
  const { via, relation } = first;
  if (second.via.length > 0 || ![relation, second.relation].every(isPlain)) return first;
  const both = Object.freeze({ ...second.relation, name: `${relation.name}:${second.relation.name}`, on: relation.on });
  return { via, relation: both, back: toOne(second.relation, relation.to), rest: second.rest };
}

const isPlain = ({ through, only, reach }: Relation): boolean => !through && !only && reach === 'join';

const toOnes = new WeakMap<Relation, Relation>();

/** The to-one relation of the foreign records to their record in `home`. */
function toOne(relation: Relation, home: Collection): Relation {
  let known = toOnes.get(relation);
  if (!known) {
    const on = relation.on.map(({ from, to }) => ({ from: to, to: from }));
    // Databases reject NUL in names, so this name is unique.
    const name = `${relation.name}\0back`;
    known = Object.freeze({ kind: 'one', name, to: home, on, inverse: false, reach: 'join', enforced: false });
    toOnes.set(relation, known);
  }
  return known;
}

/** The relation that all fields of the expression are behind, and the expression on the related record. */
function splitExpression(
  view: CollectionView,
  given: unknown,
  kind: Kind,
  at: string,
): { readonly many: ToManySplit; readonly of: PlainExpression } {
  const names =
    typeof given === 'string' || (typeof given === 'object' && given !== null)
      ? fieldNames(given as PlainExpression)
      : [];
  const rests = new Map<string, string>();
  let many: ToManySplit | undefined;
  for (const name of names) {
    const found = findFigure(view, name) ?? failNotRelated(view, name, kind, at);
    if (findToMany(view.forCollection(found.relation.to), `${found.rest}:*`)) failOnRelations(name, found, at);
    if (many && idOf(many) !== idOf(found))
      invalid(at, 'its fields are behind different relations. Send a column for each relation.');
    many = found;
    rests.set(name, found.rest);
  }
  if (!many) return invalid(at, `takes a field of related records, such as "orders:total": ${form}`);
  return { many, of: mapFieldNames(given as PlainExpression, (name) => rests.get(name) ?? name) };
}

function failOnRelations(name: string, { back }: ToManySplit, at: string): never {
  const what = back
    ? 'through three to-many relations, and a column follows two at most'
    : 'through two to-many relations, and a column follows two only if both are of one data source, and neither is polymorphic or has a through collection';
  return invalid(at, `'${name}' leads ${what}. Aggregate the collection at its end.`);
}

const idOf = ({ via, relation }: ToManySplit): string => relationPathId([...via, relation]);

function failNotRelated(view: CollectionView, name: string, kind: Kind, at: string): never {
  const related = findRelated(view, name);
  if (related) {
    const [field = '...'] = view.forCollection(related.relation.to).defaultFields;
    return invalid(at, `${kind} takes a field of '${name}': {"${kind}":"${name}:${field}"}.`);
  }
  const { path } = resolveName(view, name);
  if (path.field.computedFrom?.external)
    return invalid(
      at,
      `the records of '${name}' come from code, so a column cannot use them; list them from one record.`,
    );
  const relations = view.relations.filter((relation) => relation.kind === 'many' && !relation.recordsColumn);
  const usable = relations.map((relation) => relation.name).join(', ');
  return invalid(
    at,
    `'${name}' is a value of the record itself, but ${kind} takes those of a to-many relation${usable && ` (${usable})`}. For the record itself, send expression.`,
  );
}

/** Names the argument of the column in place of that of the measure. */
function withArgument<T>(measure: string, column: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (isAppError(error, 'INVALID_ARGUMENT') && error.details.argument.startsWith(measure))
      return fail(
        'INVALID_ARGUMENT',
        { ...error.details, argument: column + error.details.argument.slice(measure.length) },
        error,
      );
    throw error;
  }
}
