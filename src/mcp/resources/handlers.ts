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
import type { CallerContext } from './visible-resources.ts';

const PAGE_SIZE = 200;

export function visibleResources({ tools }: CallerContext): readonly Resource[] {
  return resources.filter((resource) => resource.tools.some((tool) => tools.has(tool)));
}

export function installResources(server: Server, contextOf: (ctx: ServerContext) => CallerContext): void {
  server.setRequestHandler('resources/list', ({ params }, ctx) => {
    const context = contextOf(ctx);
    const { viewer } = context;
    const all = visibleResources(context)
      .filter(({ isListed = true }) => isListed)
      .flatMap((resource) =>
        isTemplate(resource)
          ? (resource.values?.(viewer) ?? []).map((value) => expandTemplate(resource, value))
          : resource,
      )
      .sort((a, b) => (a.uri < b.uri ? -1 : 1));
    const after = params?.cursor === undefined ? '' : readCursor(params.cursor);
    const remaining = all.filter(({ uri }) => uri > after);
    const page = remaining.slice(0, PAGE_SIZE);
    const last = remaining.length > PAGE_SIZE ? page.at(-1) : undefined;
    return {
      resources: page.map((resource): ResourceDefinition => ({ uri: resource.uri, ...toDefinition(resource) })),
      ...(last && { nextCursor: Buffer.from(last.uri).toString('base64url') }),
    };
  });

  server.setRequestHandler('resources/templates/list', (_request, ctx) => ({
    resourceTemplates: visibleResources(contextOf(ctx))
      .filter(isTemplate)
      .map((resource) => ({ uriTemplate: resource.uri, ...toDefinition(resource) })),
  }));

  server.setRequestHandler('resources/read', async ({ params: { uri } }, ctx) => {
    const context = contextOf(ctx);
    const matched = findResource(visibleResources(context), uri);
    if (!matched) throw new ResourceNotFoundError(uri);
    const { resource, values } = matched;
    const content = await resource
      .read({ values, callTool: context.callTool })
      .catch((error: unknown) => failWithProtocolError(uri, error, context.hiddenTools));
    const { mimeType, meta } = resource;
    const body = typeof content === 'string' ? { mimeType, text: content } : content;
    return { contents: [{ uri, ...body, ...(meta && { _meta: { ...meta } }) }] };
  });
}

function failWithProtocolError(uri: string, error: unknown, hiddenTools: ReadonlySet<string>): never {
  if (isAppError(error, 'UNKNOWN_COLLECTION') || isAppError(error, 'RECORD_NOT_FOUND'))
    throw new ResourceNotFoundError(uri);
  throw isAppError(error) ? new ProtocolError(ProtocolErrorCode.InternalError, errorText(error, hiddenTools)) : error;
}

function toDefinition({ name, title, description, mimeType, meta }: Resource) {
  return { name, title, description, mimeType, ...(meta && { _meta: { ...meta } }) };
}

const variable = /\{(\w+)\}/g;

function isTemplate({ uri }: Resource): boolean {
  return uri.includes('{');
}

/** The list entry for one value of a template. */
function expandTemplate(resource: Resource, value: string): Resource {
  const uri = resource.uri.replace(variable, () => encodeURIComponent(value));
  return { ...resource, uri, name: value, title: value };
}

interface MatchedResource {
  readonly resource: Resource;
  readonly values: Readonly<Record<string, string>>;
}

function findResource(visible: readonly Resource[], uri: string): MatchedResource | undefined {
  for (const resource of visible) {
    const values = matchUri(resource, uri);
    if (values) return { resource, values };
  }
  return undefined;
}

/** The value of each variable. Undefined if the URI does not match this resource. */
function matchUri(resource: Resource, uri: string): MatchedResource['values'] | undefined {
  const parts = resource.uri.split('/');
  const segments = uri.split('/');
  if (parts.length !== segments.length) return undefined;
  const values: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    const [name] = [...part.matchAll(variable)].map(([, found]) => found!);
    const value = name === undefined ? segments[index] : decodeSegment(segments[index]!);
    if (!value && part !== '') return undefined;
    if (name !== undefined) values[name] = value!;
    else if (value !== part) return undefined;
  }
  return values;
}

function decodeSegment(text: string): string | undefined {
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
