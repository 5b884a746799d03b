// The OpenAPI 3.1 document, made of the table of routes and the schemas that validate.
import { z } from 'zod';
import type { Parameters } from './parameters.ts';
import type { Route } from './route.ts';
import { routes } from './routes.ts';
import { errorSchema } from './schemas.ts';

type Json = Record<string, unknown>;

/** `address`: of `/v1`. */
export function describeApi(address: string, version: string): object {
  const schemas: Record<string, Json> = {};
  const toSchema = (schema: z.ZodType, io: 'input' | 'output'): Json => take(z.toJSONSchema(schema, { io }), schemas);
  const error = (description: string, more?: Json): Json => ({
    description,
    content: { 'application/json': { schema: toSchema(errorSchema, 'output') } },
    ...more,
  });
  const limited = error('Too many calls with this token', {
    headers: { 'Retry-After': { required: true, schema: { type: 'string' }, description: 'Seconds to wait' } },
  });

  const describe = (route: Route): Json => {
    const { scopes, admin } = route;
    const needs = [scopes && `a token with ${scopes.join(' or ')}`, admin && 'the Admin role'].filter(Boolean);
    const parameters = [...pathParameters(route.path), ...queryParameters(route.query ?? {}, toSchema)];
    return {
      operationId: route.id,
      summary: route.summary,
      ...(needs.length > 0 && { description: `Needs ${needs.join(', ')}.` }),
      ...(parameters.length > 0 && { parameters }),
      ...(route.body && {
        requestBody: { required: true, content: { 'application/json': { schema: toSchema(route.body, 'input') } } },
      }),
      responses: {
        [route.status]: { description: 'Done', ...contentOf(route, toSchema) },
        429: limited,
        '4XX': error('Refused'),
        '5XX': error('Failed'),
      },
    };
  };

  const paths = Object.fromEntries(
    [...new Set(routes.map(({ path }) => path))].map((path) => [
      path,
      Object.fromEntries(
        routes.filter((route) => route.path === path).map((route) => [route.method.toLowerCase(), describe(route)]),
      ),
    ]),
  );
  return {
    openapi: '3.1.0',
    info: { title: 'Portico public API', version },
    servers: [{ url: address.replace(/\/v1$/, '') }],
    security: [{ applicationToken: [] }],
    paths,
    components: {
      securitySchemes: {
        applicationToken: {
          type: 'http',
          scheme: 'bearer',
          description: 'An application token with scopes of this API',
        },
      },
      schemas,
    },
  };
}

type ToSchema = (schema: z.ZodType, io: 'input' | 'output') => Json;

function contentOf({ answers, streams }: Route, toSchema: ToSchema): Json {
  const types = streams?.map((type) => [type, { schema: { type: 'string' } }] as const) ?? [];
  const json = answers ? [['application/json', { schema: toSchema(answers, 'output') }] as const] : [];
  const all = [...json, ...types];
  return all.length === 0 ? {} : { content: Object.fromEntries(all) };
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', minLength: 1 },
  }));
}

function queryParameters(known: Parameters, toSchema: ToSchema): Json[] {
  return Object.entries(known).map(([name, { schema }]) => ({
    name,
    in: 'query',
    required: false,
    schema: toSchema(schema, 'input'),
  }));
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
