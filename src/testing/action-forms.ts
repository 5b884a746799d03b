// The form of an action in a test. It is loaded from the agent, and reloaded when a test fills a field that other
// fields depend on.
import type { FormFile } from '../agent/actions/definitions.ts';
import { type FieldType, fieldTypes } from '../agent/actions/field-types.ts';
import type { RecordId } from '../agent/encode/record-id.ts';
import { suggestNames } from '../core/suggestions.ts';
import { readOutcome } from './action-results.ts';
import type { Connection } from './connection.ts';
import { UnknownActionFieldError } from './failures.ts';
import { packRecordId } from './queries.ts';
import type {
  ActionFieldClient,
  ActionFormClient,
  ActionTarget,
  FieldOption,
  GivenFile,
  LayoutElement,
  RecordIds,
} from './typed-client.ts';

interface ActionContext {
  readonly connection: Connection;
  readonly collection: string;
  readonly name: string;
  /** Path of the action below the HTTP API. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly ids: readonly string[];
}

/** A field as the agent sends it. */
interface WireField {
  readonly field: string;
  readonly label?: string;
  readonly type: string | readonly [string];
  readonly value?: unknown;
  readonly isRequired?: boolean;
  readonly isReadOnly?: boolean;
  readonly description?: string | null;
  readonly enums?: readonly string[] | null;
  /** `collection.key`, for fields of type Collection. */
  readonly reference?: string | null;
  /** Set when other fields depend on this one. */
  readonly hook?: string | null;
  readonly widgetEdit?: { readonly name: string; readonly parameters?: Readonly<Record<string, unknown>> } | null;
}

interface WireForm {
  readonly fields: readonly WireField[];
  readonly layout?: readonly LayoutElement[];
}

export function idsOf(target: ActionTarget | undefined): readonly string[] {
  if (!target) return [];
  return 'recordId' in target ? [packRecordId(target.recordId)] : idListOf(target.recordIds);
}

export function idListOf(ids: RecordIds): readonly string[] {
  return (Array.isArray(ids) ? (ids as readonly RecordId[]) : [ids as string | number]).map(packRecordId);
}

export async function loadActionForm(context: ActionContext): Promise<ActionFormClient> {
  const { connection, collection, name, path, query, ids } = context;
  const selection = { collection_name: collection, ids, all_records: false, all_records_ids_excluded: [] };
  const loadForm = (hook: string, more: object = {}): Promise<WireForm> => {
    const body = { data: { type: 'custom-action-hook-requests', attributes: { ...selection, ...more } } };
    return connection.request('POST', `${path}/hooks/${hook}`, { query, body });
  };
  let form = await loadForm('load');

  const find = (field: string): WireField => {
    const found = form.fields.find((one) => one.field === field) ?? form.fields.find((one) => one.label === field);
    if (found) return found;
    const names = form.fields.map((one) => one.field);
    const near = suggestNames(field, names);
    const hint = near.length > 0 ? `Near: ${near.join(', ')}.` : `There are: ${names.join(', ') || 'none'}.`;
    const message = `The form of '${name}' has no field '${field}' with its current values. ${hint}`;
    throw new UnknownActionFieldError(message, field, names);
  };

  const fill = async (field: string, input: unknown): Promise<void> => {
    const found = find(field);
    const filled = { ...found, value: wireFieldValue(found, input) };
    const fields = form.fields.map((one) => (one === found ? filled : one));
    const isWatched = found.hook !== undefined && found.hook !== null;
    form = isWatched ? await loadForm('change', { fields, changed_field: found.field }) : { ...form, fields };
  };

  // The agent accepts an option found by a search only together with the search text.
  const searches: Record<string, string> = {};
  const search = async (field: string, text: string): Promise<readonly FieldOption[]> => {
    const found = find(field);
    searches[found.field] = text;
    const fields = form.fields.map((one) => (one === found ? { ...one, searchValue: text } : one));
    const answer = await loadForm('search', { fields, search_field: found.field });
    return optionsOf(answer.fields.find((one) => one.field === found.field)) ?? [];
  };

  const open = (field: string): ActionFieldClient => ({
    get name() {
      return find(field).field;
    },
    get label() {
      return find(field).label ?? find(field).field;
    },
    get type() {
      return typeOf(find(field));
    },
    get value() {
      return find(field).value ?? undefined;
    },
    get isRequired() {
      return find(field).isRequired === true;
    },
    get isReadOnly() {
      return find(field).isReadOnly === true;
    },
    get description() {
      return find(field).description ?? undefined;
    },
    get enumValues() {
      return find(field).enums ?? undefined;
    },
    get options() {
      return optionsOf(find(field));
    },
    get collectionName() {
      return find(field).reference?.replace(/\.[^.]*$/, '');
    },
    get widget() {
      return find(field).widgetEdit?.name;
    },
    fill: (value) => fill(field, value),
    search: (text) => search(field, text),
  });

  return {
    get fields() {
      return form.fields.map((one) => open(one.field));
    },
    getField: (field) => open(find(field).field),
    getLayout: () => form.layout ?? [],
    async fill(values) {
      // Sequential: the value of one field may decide whether the next field exists.
      for (const [field, value] of Object.entries(values)) await fill(field, value);
    },
    search,
    async execute() {
      const filledFields = form.fields.filter(({ value }) => value !== undefined && value !== null);
      const values = Object.fromEntries(filledFields.map((one) => [one.field, one.value]));
      const body = { data: { type: 'custom-action-requests', attributes: { ...selection, values, searches } } };
      return readOutcome(`The action '${name}'`, await connection.send('POST', path, { query, body }));
    },
  };
}

/** `['String']` is a list of strings. A field with a reference is of type Collection. */
function typeOf({ type, reference }: WireField): FieldType {
  if (reference != null) return 'Collection';
  const named = typeof type === 'string' ? type : `${type[0]}List`;
  return fieldTypes.find((type) => type === named) ?? 'String';
}

function optionsOf(field: WireField | undefined): readonly FieldOption[] | undefined {
  const { static: fixed } = (field?.widgetEdit?.parameters ?? {}) as {
    readonly static?: { readonly options?: readonly unknown[] };
  };
  return fixed?.options?.map((option) =>
    typeof option === 'object' && option !== null ? (option as FieldOption) : { value: option, label: String(option) },
  );
}

function wireFieldValue(field: WireField, input: unknown): unknown {
  if (input === undefined || input === null) return null;
  const type = typeOf(field);
  if (type === 'Collection') return packRecordId(input as RecordId);
  if (type === 'File') return isFile(input) ? dataUriOf(input) : input;
  if (type === 'FileList' && Array.isArray(input)) return input.map((one) => (isFile(one) ? dataUriOf(one) : one));
  return input instanceof Date ? input.toISOString() : input;
}

const isFile = (input: unknown): input is FormFile | GivenFile =>
  typeof input === 'object' && input !== null && 'content' in input && 'name' in input;

function dataUriOf({ name, mimeType, content }: FormFile | GivenFile): string {
  return `data:${mimeType};name=${encodeURIComponent(name)};base64,${Buffer.from(content as Uint8Array).toString('base64')}`;
}
