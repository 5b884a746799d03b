// Reference of the definition format, generated from the schema that validates it.
import { type Html, html } from '../../../http/html.ts';
import { definitionJsonSchema } from '../../../workflows/definition/definition.ts';
import { table } from '../../ui/data.ts';

interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
}

export function reference(): Html {
  const schema = definitionJsonSchema() as Schema;
  const steps = schema.properties?.steps?.items;
  const types = steps?.oneOf ?? steps?.anyOf ?? [];
  return html`<details class="more reference"><summary>Reference</summary>
<p>A definition has a <code>name</code>, a <code>collection</code> and <code>steps</code>; every step has an <code>id</code> and a <code>type</code>. Texts can contain <code>{{record.field}}</code>, <code>{{steps.id.name}}</code>, <code>{{user.email}}</code> and <code>{{run.id}}</code>.</p>
${members('a definition', schema)}
${types.map((type) => {
  const name = `${type.properties?.type?.const}`;
  return html`<h2><code>${name}</code></h2><p>${type.description}</p>${members(name, type)}`;
})}</details>`;
}

function members(of: string, { properties = {}, required = [] }: Schema): Html {
  const rows = Object.entries(properties)
    .filter(([name]) => name !== 'type')
    .map(([name, schema]) => [
      html`<code>${name}</code>`,
      html`${typeOf(schema)}${required.includes(name) ? ', required' : ''}`,
      schema.description ?? '',
    ]);
  return table({ caption: `Members of ${of}`, heads: ['Name', 'Value', 'Meaning'], rows });
}

function typeOf(schema: Schema): string {
  if (schema.enum) return schema.enum.join(' | ');
  const some = schema.anyOf ?? schema.oneOf;
  if (some) return [...new Set(some.map(typeOf))].join(' or ');
  return schema.type === 'array' ? `list of ${schema.items ? typeOf(schema.items) : 'values'}` : (schema.type ?? 'any');
}
