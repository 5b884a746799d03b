// The introduction of the application, and the collections with what is said about them.
import { MAX_INTRODUCTION } from '../../../../core/caller/meanings.ts';
import { type Html, html } from '../../../../http/html.ts';
import type { Answer, Parts, SignedInRequest } from '../../../page-request.ts';
import { empty } from '../../../ui/data.ts';
import { areaField, field, filterForm, openForm } from '../../../ui/form.ts';
import { createFramedPage } from '../../../ui/frame.ts';
import { flash } from '../../../ui/notices.ts';
import { readModel } from '../../rights/model.ts';
import { baseOf, meaningPage, overtaken, save, under } from './places.ts';

const title = 'Meanings';
/** With more collections, a field finds one by its name. */
const MANY = 15;

interface Shown {
  readonly typed?: string;
  readonly problem?: string;
}

export const listMeanings = async (request: SignedInRequest, parts: Parts): Promise<Answer> =>
  listAnswer(request, parts, {});

function listAnswer(request: SignedInRequest, parts: Parts, { typed, problem }: Shown): Answer {
  const { introduction = '' } = request.access.meanings ?? {};
  const { instructions } = parts.engine;
  const form =
    instructions === null
      ? html`${openForm(request, parts, under)}<input type="hidden" name="base" value="${baseOf(introduction || undefined)}">
${areaField({
  ...{ id: 'introduction', label: 'Introduction', value: typed ?? introduction, rows: 6, problem },
  hint: `Every client that connects reads it, whatever the rights of its user. At most ${MAX_INTRODUCTION} characters.`,
})}<button class="primary slim" name="action" value="save">Save</button></form>`
      : html`<div class="fixed field"><b>Introduction</b><span>${instructions}</span><small>Set in code</small></div>`;
  const content = html`<h1>${title}</h1>
${flash({ saved: 'Saved. Clients read it when they connect.', deleted: 'Deleted.' }, request.query)}
<p class="lead">Explain your data to assistants: what the application is, and what its collections, fields and figures mean.</p>
${form}
<h2 class="plainly">Collections</h2>
${collectionList(request, parts)}`;
  const page = createFramedPage(request, parts, { title: problem ? `Error: ${title}` : title, under, content });
  return { page, ...(problem !== undefined && { status: 400 }) };
}

function collectionList({ access, query }: SignedInRequest, parts: Parts): Html {
  const { meanings } = access;
  const model = readModel(parts.engine, access.caller, meanings);
  const gone = [...(meanings?.collections.keys() ?? [])].filter((name) => !model.collections.includes(name));
  const all = [...model.collections, ...gone];
  const wanted = (query.get('name') ?? '').trim().slice(0, 191);
  const found = all.filter((name) => name.toLowerCase().includes(wanted.toLowerCase()));
  const rows = found.map((name) => {
    const { description, fields = [], relations = [], metrics = [], segments = [] } = model.describe(name) ?? {};
    const named = [...fields, ...relations];
    const known = named.filter((each) => each.description !== undefined).length;
    const words = gone.includes(name)
      ? 'No longer in the model'
      : [
          description ?? 'No description',
          `${known} of ${named.length} fields described`,
          ...countWords(metrics.length, 'metric'),
          ...countWords(segments.length, 'segment'),
        ].join(' · ');
    return html`<li><a href="${parts.paths.path(meaningPage(name))}"><b>${name}</b><span>${words}</span></a></li>`;
  });
  return html`${all.length > MANY && filterForm(parts, under, [field({ id: 'name', label: 'Name contains', type: 'search', value: wanted })])}
${rows.length > 0 ? html`<ul class="rows">${rows}</ul>` : empty('No collection has this name', 'Clear the field to see all collections.')}`;
}

const countWords = (count: number, what: string): readonly string[] =>
  count === 0 ? [] : [`${count} ${what}${count === 1 ? '' : 's'}`];

export async function saveIntroduction(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { form, access } = request;
  const typed = form.get('introduction') ?? '';
  const text = typed.replaceAll('\r\n', '\n').trim();
  if (text.length > MAX_INTRODUCTION)
    return listAnswer(request, parts, {
      typed,
      problem: `At most ${MAX_INTRODUCTION} characters. This text has ${text.length}.`,
    });
  const stored = access.meanings?.introduction;
  const isSaved = await save(request, parts, { kind: 'introduction' }, stored, text === '' ? null : text);
  return isSaved ? { to: `${under}?done=saved` } : listAnswer(request, parts, { typed, problem: overtaken });
}
