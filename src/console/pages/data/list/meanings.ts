// What the fields, relations, metrics and segments of a collection mean, for people: the texts that assistants read.
import type { CollectionDescription } from '../../../../agent/requests.ts';
import type { FieldMeaning } from '../../../../core/caller/meanings.ts';
import { type Html, html } from '../../../../http/html.ts';
import { table } from '../../../ui/data.ts';

/** A collection can have hundreds, most of which say nothing more than their names. */
const MAX_RELATIONS = 50;

/** `editLink`: the page on which administrators change them. */
export function meaningSection(described: CollectionDescription, editLink: string | undefined): Html {
  const { name, fields, relations, metrics, segmentDescriptions = {}, synonyms = [] } = described;
  const segments = Object.entries(segmentDescriptions);
  const shown = relations.slice(0, MAX_RELATIONS);
  const rows = [
    ...fields.map((field) => [
      html`${field.name}<small>${field.type}${field.unit !== undefined && html`, in ${field.unit}`}</small>${field.hiddenByDefault && html`<small>only if named</small>`}`,
      meaningOf(field),
    ]),
    ...shown.map((relation) => [
      html`${relation.name}<small>${relation.kind} of ${relation.to}</small>`,
      meaningOf(relation),
    ]),
  ];
  return html`<details class="more meanings"><summary>What the fields mean</summary>
${synonyms.length > 0 && html`<p class="quietly">Also called ${synonyms.join(', ')}.</p>`}
${table({ caption: `Fields of ${name}`, heads: ['Field', 'Meaning'], rows })}
${relations.length > shown.length && html`<p class="quietly">And ${relations.length - shown.length} more relations.</p>`}
${
  metrics.length > 0 &&
  table({
    caption: `Metrics of ${name}`,
    heads: ['Metric', 'Meaning'],
    rows: metrics.map((metric) => [metric.name, metric.description]),
  })
}
${segments.length > 0 && table({ caption: `Segments of ${name}`, heads: ['Segment', 'Meaning'], rows: segments })}
<p class="quietly">Assistants read these texts. ${editLink === undefined ? 'Administrators, your code and the comments of the database define them.' : html`<a href="${editLink}">Edit the meanings</a>`}</p></details>`;
}

/** In words. */
export function meaningOf({ description, values = {}, examples = [], synonyms = [] }: FieldMeaning): Html {
  const meanings = Object.entries(values);
  return html`${description}${meanings.map(([value, text]) => html`<small><b>${value}</b>: ${text}</small>`)}
${examples.length > 0 && html`<small>Such as ${examples.join(', ')}</small>`}${synonyms.length > 0 && html`<small>Also called ${synonyms.join(', ')}</small>`}`;
}
