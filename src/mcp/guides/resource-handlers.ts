// Serves the table of resources over the protocol: lists, templates, reading. Lists hold every place that a template leads
// to for the caller, a page at a time, in the order of their addresses, so that a page goes on where the one before ended
// whatever has come or gone meanwhile.
import {
  ProtocolError,
  ProtocolErrorCode,
  type Resource as ResourceDefinition,
  ResourceNotFoundError,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { isAppError } from '../../core/errors.ts';
import { errorText } from '../answers/result.ts';
import { type Resource, resources } from './resources.ts';
import type { Viewing } from './viewing.ts';

const PAGE = 200;

export function shownResources({ tools }: Viewing): readonly Resource[] {
  return resources.filter((resource) => resource.tools.some((tool) => tools.has(tool)));
}

export function installResources(server: Server, viewingOf: (ctx: ServerContext) => Viewing): void {
  server.setRequestHandler('resources/list', ({ params }, ctx) => {
    const viewing = viewingOf(ctx);
    const { viewer } = viewing;
    const all = shownResources(viewing)
      .filter(({ isListed = true }) => isListed)
      .flatMap((resource) =>
        resource.values ? resource.values(viewer).map((value) => place(resource, value)) : resource,
      )
      .sort((a, b) => (a.uri < b.uri ? -1 : 1));
    const after = params?.cursor === undefined ? '' : readCursor(params.cursor);
    const left = all.filter(({ uri }) => uri > after);
    const page = left.slice(0, PAGE);
    const last = left.length > PAGE ? page.at(-1) : undefined;
    return {
      resources: page.map((resource): ResourceDefinition => ({ uri: resource.uri, ...definition(resource) })),
      ...(last && { nextCursor: Buffer.from(last.uri).toString('base64url') }),
    };
  });

  server.setRequestHandler('resources/templates/list', (_request, ctx) => ({
    resourceTemplates: shownResources(viewingOf(ctx))
      .filter(({ values }) => values)
      .map((resource) => ({ uriTemplate: resource.uri, ...definition(resource) })),
  }));

  server.setRequestHandler('resources/read', async ({ params: { uri } }, ctx) => {
    const viewing = viewingOf(ctx);
    const found = find(shownResources(viewing), uri);
    if (!found) throw new ResourceNotFoundError(uri);
    const { resource, value } = found;
    const text = await resource.read({ value, ask: viewing.ask }).catch((error: unknown) => failInProtocol(uri, error));
    const { mimeType, meta } = resource;
    return { contents: [{ uri, mimeType, text, ...(meta && { _meta: { ...meta } }) }] };
  });
}

function failInProtocol(uri: string, error: unknown): never {
  if (isAppError(error, 'UNKNOWN_COLLECTION')) throw new ResourceNotFoundError(uri);
  throw isAppError(error) ? new ProtocolError(ProtocolErrorCode.InternalError, errorText(error)) : error;
}

function definition({ name, title, description, mimeType, meta }: Resource) {
  return { name, title, description, mimeType, ...(meta && { _meta: { ...meta } }) };
}

const variable = /\{\w+\}$/;

/** The entry for one place that a template leads to. */
function place(resource: Resource, value: string): Resource {
  const uri = resource.uri.replace(variable, () => encodeURIComponent(value));
  return { ...resource, uri, name: value, title: value };
}

function find(shown: readonly Resource[], uri: string): { resource: Resource; value: string } | undefined {
  for (const resource of shown) {
    if (resource.uri === uri && !resource.values) return { resource, value: '' };
    const start = resource.uri.replace(variable, '');
    if (!resource.values || !uri.startsWith(start)) continue;
    const value = decode(uri.slice(start.length));
    if (value) return { resource, value };
  }
  return undefined;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function readCursor(cursor: string): string {
  const uri = Buffer.from(cursor, 'base64url').toString();
  if (uri.includes('://')) return uri;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Unknown cursor: start again without one.');
}
