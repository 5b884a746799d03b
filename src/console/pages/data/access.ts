// What the pages of records may do. They call the operations that the tools call, with the same Access, and leave the
// same entries in the activity log. A tool that the operator did not enable has no page either.

import type { CollectionDescription } from '../../../agent/requests.ts';
import { fail, isAppError } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import { CONSOLE } from '../../../mcp/playground.ts';
import type { ActivityEntry } from '../../../store/audit/activity-types.ts';
import type { Parts, SignedInRequest } from '../../page-request.ts';
import { dataPage } from '../../paths.ts';
import type { Describe } from '../../ui/filter/fields.ts';
import type { ListState } from './state.ts';

export const under = '/data';

/** The way back to the list, for the breadcrumb. */
export const collectionLink = (collection: string, { paths }: Pick<Parts, 'paths'>): Html =>
  html`<a href="${paths.path(dataPage(collection))}">${collection}</a>`;

/** Whether the operator offers the tool to assistants. */
export const isOffered = ({ config }: Pick<Parts, 'config'>, tool: string): boolean =>
  config.enabledTools === null || config.enabledTools.includes(tool);

/** Throws NOT_FOUND for a collection that the viewer may not browse, and if records cannot be listed. */
export function requireCollection({ access, params }: SignedInRequest, parts: Parts): CollectionDescription {
  const collection = params.collection!;
  if (!isOffered(parts, 'list') || !access.can('browse', collection))
    return fail('NOT_FOUND', { path: parts.paths.path(dataPage(collection)) });
  return parts.engine.describe(access, collection);
}

/** Describes collections as the viewer sees them. */
export function describeFor({ access }: Pick<SignedInRequest, 'access'>, { engine }: Pick<Parts, 'engine'>): Describe {
  return (collection) => {
    try {
      return engine.describe(access, collection);
    } catch (error) {
      if (isAppError(error, 'UNKNOWN_COLLECTION')) return undefined;
      throw error;
    }
  };
}

/** The request for related records; undefined for a list without a parent. NOT_FOUND if the relation leads elsewhere. */
export function requireParent({ parent, collection }: ListState, request: SignedInRequest, parts: Parts) {
  if (!parent) return undefined;
  const { relations = [] } = describeFor(request, parts)(parent.collection) ?? {};
  const leadsHere = relations.some(
    ({ name, kind, to }) => name === parent.relation && kind === 'many' && to === collection,
  );
  if (!isOffered(parts, 'listRelated') || !leadsHere)
    return fail('NOT_FOUND', { path: parts.paths.path(dataPage(collection)) });
  return { collection: parent.collection, id: parent.id, relation: parent.relation };
}

/** Logs a read of records, as a tool logs its call. */
export function logRead(
  { access }: SignedInRequest,
  { store, clock }: Parts,
  entry: Pick<ActivityEntry, 'action' | 'collection' | 'recordIds' | 'startedAt'> & { readonly failure?: unknown },
): void {
  const { failure, startedAt, ...about } = entry;
  const code = isAppError(failure) ? failure.code : undefined;
  const outcome = failure === undefined ? 'completed' : code === 'FORBIDDEN' ? 'denied' : 'failed';
  store.activity.record({
    ...{ userId: access.caller.id, renderingId: access.caller.renderingId, ...CONSOLE },
    ...{ ...about, type: 'read', outcome, ...(code !== undefined && { code }) },
    ...{ startedAt, durationMs: clock.now() - startedAt },
  });
}
