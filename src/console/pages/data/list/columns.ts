// The columns of a list of records: fields, and to-one relations that are shown by the name of the related record.
import { packId } from '../../../../agent/encode/record-id.ts';
import type { Engine } from '../../../../agent/engine.ts';
import type { CollectionDescription, ListAnswer, RelationDescription } from '../../../../agent/requests.ts';
import type { Access } from '../../../../core/caller.ts';
import { type Html, html } from '../../../../http/html.ts';
import { type ConsolePaths, recordPage } from '../../../paths.ts';
import { shortName } from '../../../records/names.ts';
import { cell, instant } from '../cells.ts';

export interface ListColumn {
  /** A field, or `relation:` for a relation. */
  readonly id: string;
  readonly label: string;
  /** The fields that it needs, by position. */
  readonly fields: readonly string[];
  /** The field to sort by; absent if the list cannot be sorted by it. */
  readonly sort?: string;
  readonly isNumber: boolean;
  readonly show: (values: readonly unknown[], isFile: boolean) => Html;
}

interface ColumnContext {
  readonly access: Access;
  readonly engine: Pick<Engine, 'describe'>;
  readonly paths: Pick<ConsolePaths, 'path'>;
}

const MAX_SHOWN = 8;
/** More columns than this make a page too large. */
const MAX_CHOSEN = 20;

/** Relations to one record of a collection that the caller may browse. */
export const toOneRelations = ({ relations }: CollectionDescription, access: Access): readonly RelationDescription[] =>
  relations.filter(({ kind, to, fields }) => kind === 'one' && !fields && access.can('browse', to));

/** Reads the name of a related record, and links to it. */
export function relationColumn(
  { name, to, columns: own }: RelationDescription,
  { access, engine, paths }: ColumnContext,
): ListColumn | undefined {
  const { key, displayField } = engine.describe(access, to);
  if (key.length === 0) return undefined;
  const shown = displayField === undefined ? [] : [`${name}:${displayField}`];
  // The value of the foreign key says that there is a record even if the viewer may not see it.
  const keys = own.length === 1 ? own : [];
  return {
    id: `${name}:`,
    label: name,
    fields: [...key.map((field) => `${name}:${field}`), ...shown, ...keys],
    ...(shown[0] !== undefined && { sort: shown[0] }),
    isNumber: false,
    show(values) {
      const ids = values.slice(0, key.length);
      if (ids.some((value) => value === null || value === undefined))
        return cell(keys.length > 0 ? values.at(-1) : null);
      const id = packId(ids);
      const text = (shown.length > 0 && shortName(values[key.length])) || id;
      return access.can('read', to) ? html`<a href="${paths.path(recordPage(to, id))}">${text}</a>` : html`${text}`;
    },
  };
}

/** All columns that the viewer can choose, in the order of the collection. */
export function columnChoices(described: CollectionDescription, context: ColumnContext): readonly ListColumn[] {
  const fields = described.fields.map(
    ({ name, type, sortable, timezone }): ListColumn => ({
      id: name,
      label: name,
      fields: [name],
      ...(sortable && { sort: name }),
      isNumber: type === 'Number',
      show: ([value], isFile) =>
        (type === 'Date' && timezone === undefined && instant(value, context.access.caller.timezone)) ||
        cell(value, isFile),
    }),
  );
  const relations = toOneRelations(described, context.access).flatMap(
    (relation) => relationColumn(relation, context) ?? [],
  );
  return [...fields, ...relations];
}

/** The chosen columns, else the first ones that are short and readable. */
export function chooseColumns(
  described: CollectionDescription,
  choices: readonly ListColumn[],
  chosen: readonly string[],
): readonly ListColumn[] {
  const named = chosen.flatMap((id) => choices.find((column) => column.id === id) ?? []).slice(0, MAX_CHOSEN);
  if (named.length > 0) return [...new Set(named)];
  const { fields, relations, key, displayField } = described;
  const hidden = new Set([...key, displayField]);
  for (const { kind, columns, name } of relations)
    if (kind === 'one' && choices.some(({ id }) => id === `${name}:`)) for (const each of columns) hidden.add(each);
  const isReadable = (id: string) => {
    const field = fields.find(({ name }) => name === id);
    return !field || (!/^[[{]|Json|Binary|Point/.test(field.type) && !field.hiddenByDefault);
  };
  const usual = choices.filter(({ id }) => !hidden.has(id) && isReadable(id));
  const related = usual.filter(({ id }) => id.endsWith(':')).slice(0, 2);
  const own = usual.filter(({ id }) => !id.endsWith(':')).slice(0, MAX_SHOWN - related.length);
  return [...related, ...own];
}

/** The fields to request for the columns and the name of each record. */
export function fieldsFor(described: CollectionDescription, columns: readonly ListColumn[]): readonly string[] {
  const { key, displayField } = described;
  const names = [
    ...key,
    ...(displayField === undefined ? [] : [displayField]),
    ...columns.flatMap(({ fields }) => fields),
  ];
  return [...new Set(names)];
}

/** Id and name of each record of the answer, and the cells of its columns. */
export function readRows(
  { columns: given, rows, files }: Pick<ListAnswer, 'columns' | 'rows' | 'files'>,
  { key, displayField }: CollectionDescription,
  columns: readonly ListColumn[],
) {
  return rows.map((row) => {
    const value = (name: string) => row[given.indexOf(name)];
    const id = key.length > 0 ? packId(key.map(value)) : undefined;
    return {
      id,
      name: (displayField !== undefined && shortName(value(displayField))) || id || '',
      cells: columns.map(({ fields, show }) => show(fields.map(value), files.includes(fields[0]!))),
    };
  });
}
