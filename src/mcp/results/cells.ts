// Cell values in answers. A long text is cut, with a note how to read on. A file is shown as its media type and size.
import { describeFile } from '../../agent/encode/describe-file.ts';
import { stringifyJson } from '../../agent/sources/lossless-json.ts';
import { CutText } from '../../agent/sources/values/cut-text.ts';

/** Longer texts are cut in lists of several records. */
export const MAX_CELL_CHARACTERS = 2000;

/** The first character to show of the cells of a field, by field. */
export type CellStarts = Readonly<Record<string, number>>;

interface CellOptions {
  /** Maximum characters of a cell. */
  readonly limit: number;
  readonly starts: CellStarts;
  /** Fields with `data:` URIs of files. */
  readonly files: ReadonlySet<string>;
  /** A cache of printed values: a document of megabytes is printed once per answer, however often it is cut. */
  readonly printed: Map<object, string>;
}

/** Cuts long cells of a row. Returns the same row if all cells fit. */
export function cutRow(row: readonly unknown[], columns: readonly string[], options: CellOptions): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (const [index, value] of row.entries()) {
    const next = cutCell(value, columns[index]!, options, true);
    if (next === value) continue;
    copy ??= [...row];
    copy[index] = next;
  }
  return copy ?? row;
}

/** The same for a record with nested fields of relations. `path` is the path of the record. */
export function cutRecord(
  record: Readonly<Record<string, unknown>>,
  options: CellOptions,
  path = '',
): Readonly<Record<string, unknown>> {
  let copy: Record<string, unknown> | undefined;
  for (const name of Object.keys(record)) {
    const next = cutCell(record[name], path + name, options, false);
    if (next === record[name]) continue;
    copy ??= { ...record };
    copy[name] = next;
  }
  return copy ?? record;
}

function cutCell(value: unknown, field: string, options: CellOptions, positional: boolean): unknown {
  const { limit, starts, files } = options;
  if (value instanceof CutText) return cutText(value, field, limit, undefined);
  const start = Object.hasOwn(starts, field) ? starts[field]! : undefined;
  if (typeof value === 'string') {
    if (start === undefined && files.has(field)) return describeFile(value);
    return cutText(value, field, limit, start);
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value) && start === undefined && files.has(field)) return value.map(describeFile);
  // An object in a record may be a relation, so its fields are cut separately.
  if (!positional && !Array.isArray(value)) {
    const inner = cutRecord(value as Record<string, unknown>, options, `${field}:`);
    if (
      start === undefined &&
      (inner === value ? printedText(value, options) : stringifyJson(inner)).length <= limit * 20
    )
      return inner;
  }
  const text = printedText(value, options);
  return start === undefined && text.length <= limit ? value : cutText(text, field, limit, start);
}

function printedText(value: object, { printed }: CellOptions): string {
  const cached = printed.get(value);
  if (cached !== undefined) return cached;
  const text = stringifyJson(value);
  printed.set(value, text);
  return text;
}

function cutText(given: string | CutText, field: string, limit: number, start: number | undefined): string {
  const from = start ?? 0;
  const text = typeof given === 'string' ? given : given.start;
  if (from === 0 && given.length <= limit) return text;
  const end = alignToCharacter(text, from + limit);
  const part = text.slice(from, end);
  if (end >= given.length) return part;
  return `${part}…[${end} of ${given.length} characters; for more, list this record with "cells":${JSON.stringify({ [field]: { from: end } })}]`;
}

/** The end of the text, moved to avoid splitting a surrogate pair. */
function alignToCharacter(text: string, end: number): number {
  if (end >= text.length) return text.length;
  const code = text.charCodeAt(end - 1);
  return code >= 0xd800 && code <= 0xdbff ? end - 1 : end;
}

/**
 * Cuts a long text, or a JSON value as text, and adds its length. A file is shown as its type and size. For answers
 * that have no way to request the rest.
 */
export function clipValue(value: unknown, limit: number): unknown {
  if (value === null || (typeof value !== 'string' && typeof value !== 'object')) return value;
  const text = typeof value === 'string' ? value : stringifyJson(value);
  if (text.length <= limit) return value;
  const file = describeFile(value);
  if (file !== value) return file;
  const end = alignToCharacter(text, limit);
  return `${text.slice(0, end)}…[${end} of ${text.length} characters]`;
}
