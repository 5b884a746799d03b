// Addresses of the pages about meanings, and what they show: what code says, and what is stored.
import type { CodeMeanings } from '../../../../agent/operations/stored-filters.ts';
import type { CollectionDescription } from '../../../../agent/requests.ts';
import type { CollectionMeanings, MeaningSubject } from '../../../../core/caller/meanings.ts';
import { fail } from '../../../../core/errors.ts';
import { hashToken } from '../../../../core/secret.ts';
import { type Html, html } from '../../../../http/html.ts';
import type { Answer, Parts, SignedInRequest } from '../../../page-request.ts';
import { segment } from '../../../paths.ts';
import { createFramedPage } from '../../../ui/frame.ts';
import { type ModelNames, readModel } from '../../rights/model.ts';

export const under = '/meanings';
export const meaningPage = (collection: string): string => `${under}/${segment(collection)}`;
export const fieldPage = (collection: string, field: string): string =>
  `${meaningPage(collection)}/fields/${segment(field)}`;
export const metricPage = (collection: string, metric: string): string =>
  `${meaningPage(collection)}/metrics/${segment(metric)}`;
export const newMetricPage = (collection: string): string => `${meaningPage(collection)}/new-metric`;
export const segmentPage = (collection: string, name: string): string =>
  `${meaningPage(collection)}/segments/${segment(name)}`;
export const newSegmentPage = (collection: string): string => `${meaningPage(collection)}/new-segment`;

export interface MeaningTarget {
  readonly collection: string;
  readonly model: ModelNames;
  /** Without what is stored. */
  readonly described: CollectionDescription;
  readonly code: CodeMeanings;
  readonly stored: CollectionMeanings;
}

const nothingStored: CollectionMeanings = { fields: new Map(), metrics: new Map(), segments: new Map() };

export const storedOf = ({ access }: SignedInRequest, collection: string): CollectionMeanings =>
  access.meanings?.collections.get(collection) ?? nothingStored;

/** Throws NOT_FOUND for a collection that the model does not have. */
export function readTarget(request: SignedInRequest, parts: Parts): MeaningTarget {
  const collection = request.params.collection!;
  const model = readModel(parts.engine, request.access.caller);
  const described = model.describe(collection) ?? fail('NOT_FOUND', { path: parts.paths.path(under) });
  return {
    ...{ collection, model, described },
    code: model.codeMeanings(collection),
    stored: storedOf(request, collection),
  };
}

/** The page of a field, metric or segment. `name` is its heading. */
export function partAnswer(
  request: SignedInRequest,
  parts: Parts,
  {
    collection,
    name,
    content,
    isWrong,
  }: Pick<MeaningTarget, 'collection'> & {
    readonly name: string;
    readonly content: Html;
    readonly isWrong: boolean;
  },
): Answer {
  const title = `${name} of ${collection}`;
  const page = createFramedPage(request, parts, {
    ...{ title: isWrong ? `Error: ${title}` : title, under, content, here: name },
    between: [html`<a href="${parts.paths.path(meaningPage(collection))}">${collection}</a>`],
  });
  return { page, ...(isWrong && { status: 400 }) };
}

/** Identifies what a form was filled with. */
export const baseOf = (stored: unknown): string => hashToken(JSON.stringify(stored ?? null));

/** Stores the value; null removes it. False if somebody else has changed it since the form was shown. */
export function save(
  { access, form }: SignedInRequest,
  { store }: Parts,
  subject: MeaningSubject,
  stored: unknown,
  value: unknown,
): Promise<boolean> {
  if (form.get('base') !== baseOf(stored)) return Promise.resolve(false);
  return store.meanings.set(subject, value, { before: stored ?? null, by: access.caller.id });
}

export const overtaken =
  'Somebody else has changed this in the meantime. Your texts are still in the form. Compare them with the stored ones, then save again.';

/** Of a new metric or segment. `known`: the names of the others. */
export function findNameProblem(name: string, known: readonly string[]): string | undefined {
  if (name === '') return 'Enter a name.';
  if (known.includes(name)) return `'${name}' exists already. Choose another name.`;
  return /:|@@@|\p{Cc}/u.test(name) || name.length > 100
    ? 'Use at most 100 characters, without colons or @@@.'
    : undefined;
}
