// The OpenAPI 3.1 document, made of the table of routes and the schemas that validate. A new route is described in full by what
// it is made of; `about`, `tag` and `also` of a route say what cannot be told from it.
import { z } from 'zod';
import { exampleOf, type Json } from './examples.ts';
import { describeParameter, headers, introduction, otherTag, statuses, tags } from './openapi-texts.ts';
import type { Route } from './route.ts';
import { routes } from './routes.ts';
import { errorSchema } from './schemas.ts';

export interface ApiDocument {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly security: readonly Requirement[];
  /** By path, then by method in lower case. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<
    Record<'securitySchemes' | 'headers' | 'responses' | 'schemas', Readonly<Record<string, Json>>>
  >;
}

type Requirement = Readonly<Record<string, readonly string[]>>;

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** Alternatives: one of them is needed. */
  readonly security: readonly Requirement[];
  readonly parameters?: readonly ParameterObject[];
  readonly requestBody?: { readonly required: true; readonly content: Content };
  /** By status. */
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

export interface ParameterObject {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly description: string;
  readonly schema: Json;
  readonly example: unknown;
}

type Content = Readonly<Record<string, { readonly schema: Json; readonly example: unknown }>>;

export type ResponseObject =
  | { readonly $ref: string }
  | { readonly description: string; readonly headers?: Json; readonly content?: Content };

type ToSchema = (schema: z.ZodType, io: 'input' | 'output') => Json;

const scheme = 'applicationToken';
const limitHeaders = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];

/** `address`: of `/v1`. */
export function describeApi(address: string, version: string): ApiDocument {
  const schemas: Record<string, Json> = {};
  const toSchema: ToSchema = (schema, io) => take(z.toJSONSchema(schema, { io }), schemas);
  const error = toSchema(errorSchema, 'output');
  const paths = Object.fromEntries(
    [...new Set(routes.map(({ path }) => path))].map((path) => [
      path,
      Object.fromEntries(
        routes
          .filter((route) => route.path === path)
          .map((route) => [route.method.toLowerCase(), describeRoute(route, toSchema, schemas)]),
      ),
    ]),
  );
  const used = new Set(routes.map((route) => tagOf(route).name));
  const known = new Map([...Object.values(tags), otherTag].map((tag) => [tag.name, tag]));
  return {
    openapi: '3.1.0',
    info: { title: 'Portico public API', version, description: introduction },
    servers: [{ url: address.replace(/\/v1$/, '') }],
    tags: [...known.values()].filter(({ name }) => used.has(name)),
    security: [{ [scheme]: [] }],
    paths,
    components: {
      securitySchemes: {
        [scheme]: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'svc_ and 43 characters',
          description:
            'An application token. What an operation lists are scopes: the token needs one of them. `all` stands for each of them.',
        },
      },
      headers: Object.fromEntries(
        Object.values(headers).map(({ name, about, example }) => [
          name,
          { description: about, required: true, schema: { type: 'integer', minimum: 0 }, example },
        ]),
      ),
      responses: Object.fromEntries(
        Object.entries(statuses).map(([status, one]) => [one.name, describeStatus(status, error)]),
      ),
      schemas,
    },
  };
}

function describeRoute(route: Route, toSchema: ToSchema, schemas: Record<string, Json>): Operation {
  const { id, summary, scopes, body } = route;
  const show = (schema: Json, name = '') => ({ schema, example: exampleOf(schema, schemas, name) });
  const parameters = [...pathParameters(route, show), ...queryParameters(route, toSchema, show)];
  const anyOf = scopes === null ? [[]] : [...scopes, 'all'].map((scope) => [scope]);
  const failures = statusesOf(route).map((status) => [
    status,
    { $ref: `#/components/responses/${statuses[status]!.name}` },
  ]);
  return {
    operationId: id,
    summary,
    description: describeNeeds(route),
    tags: [tagOf(route).name],
    security: [...new Map(anyOf.map((needed) => [`${needed}`, { [scheme]: needed }])).values()],
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: { 'application/json': show(toSchema(body, 'input')) } } }),
    responses: {
      [route.status]: { description: 'Done', headers: refer(limitHeaders), ...contentOf(route, toSchema, show) },
      ...Object.fromEntries(failures),
    },
  };
}

/** What a program may have to tell apart; the ranges stand for the rest, as in the spec (public-http-api 7.2). */
export function statusesOf({ path, body, also = [] }: Route): readonly string[] {
  const here = path.includes('{') ? ['404'] : [];
  const sent = body ? ['413'] : [];
  const all = new Set(['400', '401', '403', ...here, ...also.map(String), ...sent, '429']);
  return [...[...all].sort(), '4XX', '5XX'];
}

function describeNeeds({ summary, about, scopes, admin, query }: Route): string {
  const needs = [
    scopes === null
      ? 'any application token'
      : `a token with the scope ${[...new Set([...scopes, 'all'])].map((scope) => `\`${scope}\``).join(' or ')}`,
    admin && 'the Admin role of its user',
  ];
  const pages = query && 'cursor' in query && ' Send `nextCursor` as `cursor` for the next page.';
  return `${about ?? `${summary}.`} Needs ${needs.filter(Boolean).join(', and ')}.${pages || ''}`;
}

function tagOf({ path, tag }: Route): { readonly name: string; readonly description: string } {
  if (tag !== undefined) return tag;
  const segment = path.split('/').findLast((part) => Object.hasOwn(tags, part));
  return segment === undefined ? otherTag : tags[segment]!;
}

const refer = (names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${headers[name]!.name}` }]));

function describeStatus(status: string, schema: Json): Json {
  const { error, description, message, code } = statuses[status]!;
  const example = { error, message, code, ...(status === '429' && { retry_after: 12 }) };
  // Those without a token that counts are not counted.
  const told = status === '429' ? refer([...limitHeaders, 'Retry-After']) : undefined;
  return { description, ...(told && { headers: told }), content: { 'application/json': { schema, example } } };
}

type Show = (schema: Json, name?: string) => { readonly schema: Json; readonly example: unknown };

function contentOf({ answers, streams }: Route, toSchema: ToSchema, show: Show): { readonly content?: Content } {
  const types = streams?.map((type) => [type, { schema: { type: 'string' }, example: '' }] as const) ?? [];
  const json = answers ? [['application/json', show(toSchema(answers, 'output'))] as const] : [];
  const all = [...json, ...types];
  return all.length === 0 ? {} : { content: Object.fromEntries(all) };
}

function pathParameters({ path }: Route, show: Show): ParameterObject[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const isNumber = /^(token|note|message)Id$/.test(name);
    const schema = isNumber ? { type: 'integer', minimum: 1 } : { type: 'string', minLength: 1 };
    const description = describeParameter(name, 'a text');
    return { name, in: 'path', required: true, description, ...show(schema, isNumber ? 'id' : name) };
  });
}

function queryParameters({ query = {} }: Route, toSchema: ToSchema, show: Show): ParameterObject[] {
  return Object.entries(query).map(([name, { schema, expected }]) => {
    const shown = show(toSchema(schema, 'input'), name);
    return { name, in: 'query', required: false, description: describeParameter(name, expected), ...shown };
  });
}

/** Moves what has a name (`.meta({ id })`) into `schemas`, and points there. */
function take({ $schema, $defs, ...schema }: Json, schemas: Record<string, Json>): Json {
  for (const [name, definition] of Object.entries(($defs ?? {}) as Record<string, Json>)) {
    const { $schema: _, id: __, ...rest } = definition;
    schemas[name] ??= point(rest) as Json;
  }
  const { id, ...rest } = schema;
  if (typeof id !== 'string') return point(rest) as Json;
  schemas[id] ??= point(rest) as Json;
  return { $ref: `#/components/schemas/${id}` };
}

function point(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(point);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) =>
      key === '$ref' && typeof one === 'string'
        ? [key, one.replace('#/$defs/', '#/components/schemas/')]
        : [key, point(one)],
    ),
  );
}
