// Whether the viewer can change records, and the pages for it. Only for the offer: each call checks the same rights.
import type { CollectionDescription } from '../../../agent/requests.ts';
import type { Parts, SignedInRequest } from '../../page-request.ts';
import { recordPage, segment } from '../../paths.ts';
import { isOffered } from './access.ts';

export const createPage = (collection: string): string => `/create/${segment(collection)}`;
export const editPage = (collection: string, id: string): string => `${recordPage(collection, id)}/edit`;
export const deletePage = (collection: string, id: string): string => `${recordPage(collection, id)}/delete`;

const isWritable = (
  { access }: SignedInRequest,
  parts: Parts,
  { name }: CollectionDescription,
  tool: string,
): boolean =>
  parts.playground !== null &&
  isOffered(parts, tool) &&
  parts.engine.index(access).some((each) => each.name === name && each.writable);

export const mayCreate = (request: SignedInRequest, parts: Parts, described: CollectionDescription): boolean =>
  described.permissions.add && isWritable(request, parts, described, 'create');

export const mayEdit = (request: SignedInRequest, parts: Parts, described: CollectionDescription): boolean =>
  described.permissions.edit && isWritable(request, parts, described, 'update');

export const mayDelete = (request: SignedInRequest, parts: Parts, described: CollectionDescription): boolean =>
  described.permissions.delete && isWritable(request, parts, described, 'delete');
