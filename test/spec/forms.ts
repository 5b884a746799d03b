// Action forms, as front ends read and send them over HTTP and assistants over MCP.
import { type Outside, openOutside } from './outside.ts';

type Values = Readonly<Record<string, unknown>>;
export type Told = Record<string, unknown> & { readonly field: string };

export interface Forms extends Outside {
  /** Loads the form over HTTP; `changed` is the field that changed. */
  load(name: string, values?: Values, changed?: string): Promise<Readonly<Record<string, Told>>>;
  layout(name: string): Promise<unknown>;
  /** The result of `getActionForm`. */
  // biome-ignore lint/suspicious/noExplicitAny: JSON that the tests compare.
  form(name: string, given?: Values): Promise<any>;
  /** The values that the code received, or the problems by field; null for another failure. */
  submit(name: string, values: Values): Promise<unknown>;
  execute(name: string, given: Values): Promise<unknown>;
  /** The options that a search of a field returns. */
  search(name: string, field: string, text: string, values?: Values): Promise<unknown>;
}

const slug = (name: string) => name.toLowerCase().replaceAll(' ', '-');

/** The forms belong to global actions of `cities`; the keys are the action names. */
export async function openForms(
  tables: readonly string[],
  forms: Readonly<Record<string, unknown>>,
  scopes: Readonly<Record<string, unknown>> = {},
): Promise<Forms> {
  const got: Values[] = [];
  const names = Object.keys(forms);
  const place = await openOutside(
    tables,
    (agent) => {
      agent.customizeCollection('cities', (cities) => {
        for (const [name, form] of Object.entries(forms))
          cities.addAction(name, {
            scope: 'Global',
            form: form as never,
            execute: ({ formValues }) => void got.push(formValues as Values),
          });
      });
    },
    scopes,
  );
  const at = (name: string) => `/_actions/cities/${names.indexOf(name)}/${slug(name)}`;
  const fieldsOf = (body: { readonly fields: readonly Told[] }) =>
    Object.fromEntries(body.fields.map((field) => [field.field, field]));
  const sent = (values: Values) => Object.entries(values).map(([field, value]) => ({ field, value }));
  const about = (name: string, given: Values) => ({ collectionName: 'cities', actionName: name, ...given });
  return {
    ...place,
    async load(name, values, changed) {
      if (!values) return fieldsOf((await place.act(`${at(name)}/hooks/load`, { ids: [] })).body);
      const attributes = { ids: [], fields: sent(values), changed_field: changed ?? Object.keys(values)[0] };
      return fieldsOf((await place.act(`${at(name)}/hooks/change`, attributes)).body);
    },
    layout: async (name) => (await place.act(`${at(name)}/hooks/load`, { ids: [] })).body.layout,
    async form(name, given = {}) {
      const answer = await place.tool('getActionForm', about(name, given));
      return 'json' in answer ? answer.json : answer;
    },
    async submit(name, values) {
      got.length = 0;
      const { body } = await place.act(at(name), { ids: [], values });
      if (!body.errors) return got[0];
      const wrong = body.errors[0].data?.fields as readonly { field: string; problem: string }[] | undefined;
      return wrong ? Object.fromEntries(wrong.map(({ field, problem }) => [field, problem])) : null;
    },
    async execute(name, given) {
      got.length = 0;
      const answer = await place.tool('executeAction', about(name, given));
      return 'json' in answer ? got[0] : answer;
    },
    async search(name, field, text, values = {}) {
      const fields = [...sent(values), { field, value: null, searchValue: text }];
      const { body } = await place.act(`${at(name)}/hooks/search`, { ids: [], fields, search_field: field });
      if (body.errors) throw new Error(body.errors[0].detail ?? JSON.stringify(body.errors));
      const found = fieldsOf(body)[field] as {
        readonly widgetEdit?: { readonly parameters: { static: { options: unknown } } };
      };
      return found.widgetEdit?.parameters.static.options;
    },
  };
}

/** A file of a form as code receives it, with its content as text. */
export const shown = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(shown)
    : value instanceof Object && 'content' in value
      ? { ...value, content: String(value.content) }
      : value;
