// Serves the table of resources over the protocol: lists, templates, reads. Lists contain every value of a template
// that the caller may see, page by page, in the order of their URIs. A page continues after the last URI of the page
// before, so entries that appear or disappear in between do not shift it.
import {
  ProtocolError,
  ProtocolErrorCode,
  type Resource as ResourceDefinition,
  ResourceNotFoundError,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { isAppError } from '../../core/errors.ts';
import { errorText } from '../results/result.ts';
import { type Resource, resources } from './resources.ts';
import type { Viewing } from './visible-resources.ts';

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
        isTemplate(resource) ? (resource.values?.(viewer) ?? []).map((value) => place(resource, value)) : resource,
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
      .filter(isTemplate)
      .map((resource) => ({ uriTemplate: resource.uri, ...definition(resource) })),
  }));

  server.setRequestHandler('resources/read', async ({ params: { uri } }, ctx) => {
    const viewing = viewingOf(ctx);
    const found = find(shownResources(viewing), uri);
    if (!found) throw new ResourceNotFoundError(uri);
    const { resource, values } = found;
    const content = await resource
      .read({ values, ask: viewing.ask })
      .catch((error: unknown) => failInProtocol(uri, error, viewing.absent));
    const { mimeType, meta } = resource;
    const body = typeof content === 'string' ? { mimeType, text: content } : content;
    return { contents: [{ uri, ...body, ...(meta && { _meta: { ...meta } }) }] };
  });
}

function failInProtocol(uri: string, error: unknown, absent: ReadonlySet<string>): never {
  if (isAppError(error, 'UNKNOWN_COLLECTION') || isAppError(error, 'RECORD_NOT_FOUND'))
    throw new ResourceNotFoundError(uri);
  throw isAppError(error) ? new ProtocolError(ProtocolErrorCode.InternalError, errorText(error, absent)) : error;
}

function definition({ name, title, description, mimeType, meta }: Resource) {
  return { name, title, description, mimeType, ...(meta && { _meta: { ...meta } }) };
}

const variable = /\{(\w+)\}/g;

function isTemplate({ uri }: Resource): boolean {
  return uri.includes('{');
}

/** The list entry for one value of a template. */
function place(resource: Resource, value: string): Resource {
  const uri = resource.uri.replace(variable, () => encodeURIComponent(value));
  return { ...resource, uri, name: value, title: value };
}

interface Found {
  readonly resource: Resource;
  readonly values: Readonly<Record<string, string>>;
}

function find(shown: readonly Resource[], uri: string): Found | undefined {
  for (const resource of shown) {
    const values = valuesIn(resource, uri);
    if (values) return { resource, values };
  }
  return undefined;
}

/** The value of each variable. Undefined if the URI does not match this resource. */
function valuesIn(resource: Resource, uri: string): Found['values'] | undefined {
  const parts = resource.uri.split('/');
  const given = uri.split('/');
  if (parts.length !== given.length) return undefined;
  const values: Record<string, string> = {};
  for (const [at, part] of parts.entries()) {
    const [name] = [...part.matchAll(variable)].map(([, found]) => found!);
    const value = name === undefined ? given[at] : decode(given[at]!);
    if (!value && part !== '') return undefined;
    if (name !== undefined) values[name] = value!;
    else if (value !== part) return undefined;
  }
  return values;
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
