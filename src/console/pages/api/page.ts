// The public API for human readers, rendered from the published OpenAPI document so the two always match.
import {
  type ApiDocument,
  describeApi,
  type Operation,
  type ParameterObject,
  type ResponseObject,
} from '../../../api/openapi/document.ts';
import { type Html, html, trustedHtml } from '../../../http/html.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { facts, table } from '../../ui/data.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { copyable } from '../../ui/notices.ts';
import { formatCurl } from './curl.ts';

export async function showApi(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const document = describeApi(parts.apiUrl, '');
  const content = html`<h1>The public API</h1>
<p>Notes, logs and tokens of this project, for programs. Every call needs a token: <a href="${parts.paths.path('/tokens/new')}">create one</a> and store it with the program.</p>
${facts([
  ['Address', html`<code>${parts.apiUrl}</code>`],
  ['For client generators', html`<a href="${parts.apiUrl}/openapi.json">openapi.json</a>, OpenAPI ${document.openapi}`],
])}
${paragraphsOf(document.info.description)}
<nav aria-label="Operations" class="operations">${document.tags.map(({ name, description }) => {
    const own = operationsOf(document, name);
    return html`<section><h2 class="plainly">${name}</h2><p class="quietly">${description}.</p><ul>${own.map(
      ({ method, operation }) =>
        html`<li><a href="#${operation.operationId}"><b class="method">${method}</b> ${operation.summary}</a></li>`,
    )}</ul></section>`;
  })}</nav>
${document.tags.map(({ name }) => operationsOf(document, name).map((one) => describe(document, one)))}
${sharedErrors(document)}`;
  return { page: createFramedPage(request, parts, { title: 'The public API', under: '/api', content, wide: true }) };
}

interface Described {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

function operationsOf(document: ApiDocument, tag: string): readonly Described[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { tags }]) => tags.includes(tag))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

function describe(document: ApiDocument, { method, path, operation }: Described): Html {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const server = document.servers[0]!.url;
  const requestContent = requestBody?.content['application/json'];
  const all = Object.entries(responses);
  const own = all.flatMap(([status, one]) => ('$ref' in one ? [] : [[status, inline(one.description)]]));
  const shared = all.flatMap(([status, one]) => ('$ref' in one ? [status] : []));
  return html`<section class="operation" aria-labelledby="${operationId}"><h2 class="plainly" id="${operationId}">${summary}</h2>
<p class="address"><b class="method">${method}</b> <code>${path}</code></p>
<p>${inline(description)}</p>
${copyable(formatCurl({ server, method, path, operation }), `a call of ${operationId}`)}
${parameters.length > 0 && table({ caption: `Parameters of ${operationId}`, heads: ['Parameter', 'In', 'Description', 'Example'], rows: parameters.map(parameterRow) })}
${requestContent && html`<details class="more"><summary>Request body<span class="unseen"> of ${operationId}</span></summary>${sample(requestContent.example, `the body of ${operationId}`)}</details>`}
<details class="more"><summary>Responses<span class="unseen"> of ${operationId}</span></summary>
${table({ caption: `Responses of ${operationId}`, heads: ['Status', 'Meaning'], rows: own })}
${shared.length > 0 && html`<p class="quietly">Also <a href="#errors">errors that several operations have</a>: ${shared.join(', ')}.</p>`}
${exampleOf(document, operation)}</details>
</section>`;
}

/** The errors that operations share. Repeating them for each makes the page half as long again. */
function sharedErrors(document: ApiDocument): Html {
  const used = new Map<string, string>();
  for (const methods of Object.values(document.paths))
    for (const { responses } of Object.values(methods))
      for (const [status, one] of Object.entries(responses))
        if ('$ref' in one) used.set(status, read(document, one).description);
  const rows = [...used].sort(([a], [b]) => a.localeCompare(b)).map(([status, text]) => [status, inline(text)]);
  return html`<section class="operation" aria-labelledby="errors"><h2 class="plainly" id="errors">Errors</h2>
${table({ caption: 'Errors that several operations have', heads: ['Status', 'Meaning'], rows })}</section>`;
}

const parameterRow = ({ name, in: where, description, schema, example }: ParameterObject) => [
  html`<code>${name}</code>`,
  where,
  html`${inline(description)}<small>${typeOf(schema)}</small>`,
  html`<code>${`${example}`}</code>`,
];

function typeOf(schema: Readonly<Record<string, unknown>>): string {
  const { type, format, enum: values, minimum, maximum, default: standard } = schema;
  const range =
    type === 'integer' && maximum !== undefined && Number(maximum) < 2 ** 31 - 1 && `${minimum} to ${maximum}`;
  const typeText = Array.isArray(values) ? `one of ${values.join(', ')}` : `${type ?? 'any'}`;
  return [typeText, format, range, standard !== undefined && `default ${standard}`].filter(Boolean).join(', ');
}

type Response = Exclude<ResponseObject, { readonly $ref: string }>;

function read({ components }: ApiDocument, response: ResponseObject): Response {
  if (!('$ref' in response)) return response;
  return components.responses[response.$ref.split('/').at(-1)!] as unknown as Response;
}

function exampleOf(document: ApiDocument, { operationId, responses }: Operation): Html | false {
  const [status] = Object.keys(responses).filter((one) => one.startsWith('2'));
  const content = read(document, responses[status!]!).content?.['application/json'];
  return content !== undefined && sample(content.example, `a response of ${operationId}`);
}

/** The scrollable region is focusable by keyboard (WCAG 2.2, 2.1.1). */
const sample = (value: unknown, what: string): Html =>
  html`<div class="copyable"><pre tabindex="0" role="region" aria-label="${what}"><code>${linesOf(value)}</code></pre></div>`;

/** Between tags a quote needs no escape (HTML, 13.1.2.4), and the examples have thousands. */
const linesOf = (value: unknown): Html =>
  trustedHtml(html`${JSON.stringify(value, null, 2)}`.text.replaceAll('&quot;', '"'));

/** Renders the subset of Markdown that the document uses: paragraphs and {@link inline} markup. */
const paragraphsOf = (text: string): Html[] => text.split('\n\n').map((part) => html`<p>${inline(part)}</p>`);

/** `code` and **strong**. */
function inline(text: string): Html {
  const parts = text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
    if (part.startsWith('`')) return html`<code>${part.slice(1, -1)}</code>`;
    return part.startsWith('**') ? html`<strong>${part.slice(2, -2)}</strong>` : html`${part}`;
  });
  return html`${parts}`;
}
