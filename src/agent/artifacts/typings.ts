// Typings of the data sources and the customizations, for `createAgent<Schema>`: one line for each column, by original
// names, including removed collections and fields. Paths through relations are not listed: customize/typed-schema.ts
// derives them from these lines, so the text grows with the columns only.
import type { Collection, Column, Model } from '../model/types.ts';
import type { ColumnShape, PrimitiveType } from '../sources/column-types.ts';

export interface Typings {
  readonly text: string;
  /** Collections with paths through fewer relations than requested, and the number of relations. */
  readonly cut: readonly (readonly [collection: string, depth: number])[];
}

/** A larger number of paths slows down editors. */
const PATHS_LIMIT = 2000;

export function createTypings(model: Model, maxDepth: number): Typings {
  const collections = [...model.inside.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const count = createCounter();
  const cut: [string, number][] = [];
  const blocks = collections.map((collection) => {
    let depth = maxDepth;
    while (depth > 0 && count(collection, depth) > PATHS_LIMIT) depth--;
    if (depth < maxDepth) cut.push([collection.name, depth]);
    return writeCollection(collection, depth);
  });
  const head =
    '// Made by Portico of the data sources and the customizations: written anew by every start, not to be edited.\n';
  return { text: `${head}\nexport interface Schema {\n${blocks.join('')}}\n`, cut };
}

/** Counts the paths of a collection through at most `depth` relations, up to just above the limit. */
function createCounter(): (collection: Collection, depth: number) => number {
  const known = new Map<Collection, number[]>();
  const count = (collection: Collection, depth: number): number => {
    const counts = known.get(collection) ?? [];
    known.set(collection, counts);
    const found = counts[depth];
    if (found !== undefined) return found;
    let total = 0;
    for (const field of collection.inside.values())
      if (field.kind === 'column') total++;
      else if (field.kind === 'one' && depth > 0) total += count(field.to, depth - 1);
    counts[depth] = Math.min(total, PATHS_LIMIT + 1);
    return counts[depth];
  };
  return count;
}

function writeCollection({ name, inside }: Collection, depth: number): string {
  const columns: string[] = [];
  const readOnly: string[] = [];
  const relations: Record<'one' | 'many', string[]> = { one: [], many: [] };
  for (const [own, field] of inside) {
    // Records from code have no collection.
    if (field.kind !== 'column' && field.given) continue;
    if (field.kind !== 'column') {
      relations[field.kind].push(`${nameOf(own)}: ${text(field.to.name)}`);
      continue;
    }
    columns.push(`      ${nameOf(own)}: ${markerOf(field)};\n`);
    if (field.readOnly) readOnly.push(text(own));
  }
  const members = [
    `    depth: ${depth};\n`,
    `    columns: {\n${columns.join('')}    };\n`,
    `    readOnly: ${readOnly.join(' | ') || 'never'};\n`,
    ...(['one', 'many'] as const).map((kind) => `    ${kind}: ${listOf(relations[kind])};\n`),
  ];
  return `  ${nameOf(name)}: {\n${members.join('')}  };\n`;
}

const listOf = (entries: readonly string[]): string =>
  entries.length ? `{ ${entries.join('; ')} }` : 'Record<never, never>';

/** The type of the column, with the TypeScript type of its values if that differs from the default. */
function markerOf({ type, nullable, enumValues, nativeType, shape }: Column): string {
  const primitive = typeof type === 'string' ? type : type[0];
  const values = shape ? shapeOf(shape) : valuesOf(primitive, enumValues, nativeType);
  const one = values === undefined ? text(primitive) : `{ ${primitive}: ${values} }`;
  return `${typeof type === 'string' ? one : `[${one}]`}${nullable ? ' | null' : ''}`;
}

/** The type of a Json with a known shape. Any part may be null. */
function shapeOf(shape: ColumnShape): string {
  if (typeof shape === 'string') return inJson[shape] ?? 'string';
  if (isList(shape)) return `readonly (${shapeOf(shape[0])} | null)[]`;
  const members = Object.entries(shape).map(([key, of]) => `readonly ${nameOf(key)}: ${shapeOf(of)} | null`);
  return `{ ${members.join('; ')} }`;
}

const isList = (shape: ColumnShape): shape is readonly [ColumnShape] => Array.isArray(shape);

/** Other types are strings. */
const inJson: { readonly [T in PrimitiveType]?: string } = {
  Number: 'number',
  Boolean: 'boolean',
  Json: 'unknown',
  Point: 'readonly [number, number]',
};

/** Numbers that a double cannot represent exactly are strings of digits. */
function valuesOf(
  type: PrimitiveType,
  enumValues: readonly string[] | undefined,
  nativeType: string,
): string | undefined {
  if (type === 'Enum' && enumValues?.length) return enumValues.map(text).join(' | ');
  return type === 'Number' && mayBeLarge(nativeType.toLowerCase()) ? 'number | string' : undefined;
}

const EXACT_DIGITS = 15;

function mayBeLarge(nativeType: string): boolean {
  if (/^(bigint|int8|unsigned big int)/.test(nativeType)) return true;
  if (!/^(decimal|numeric|dec|fixed)/.test(nativeType)) return false;
  const digits = /\((\d+)/.exec(nativeType)?.[1];
  return digits === undefined || Number(digits) > EXACT_DIGITS;
}

const nameOf = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : text(name));

/** A string literal that the text cannot end: U+2028 and U+2029 are escaped too. */
function text(value: string): string {
  return JSON.stringify(value).replace(/[\u2028\u2029]/g, (mark) => `\\u${mark.charCodeAt(0).toString(16)}`);
}
