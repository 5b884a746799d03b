// Builds the OpenAPI 3.1 document from the route table and the validation schemas, so a new route is documented
// automatically. `about`, `tag` and `also` of a route add what the schemas cannot express.
import { z } from 'zod';
import { routes } from '../routes.ts';
import { errorSchema } from '../schemas.ts';
import { type Documented, webhookDescription } from '../workflows/webhook-description.ts';
import { exampleOf, type Json } from './examples.ts';
import { apiIntroduction, describeParameter, headers, otherTag, statuses, tags } from './texts.ts';

/** All documented routes. */
const documentedRoutes: readonly Documented[] = [...routes, webhookDescription];

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
  /** Alternatives: one of them must be satisfied. */
  readonly security: readonly Requirement[];
  readonly parameters?: readonly ParameterObject[];
  readonly requestBody?: { readonly required: true; readonly content: Content };
  /** By status. */
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

export interface ParameterObject {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
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

const SECURITY_SCHEME = 'applicationToken';
const limitHeaders = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];

/** `address`: the URL of `/v1`. */
export function describeApi(address: string, version: string): ApiDocument {
  const schemas: Record<string, Json> = {};
  const toSchema: ToSchema = (schema, io) => extractSchemas(z.toJSONSchema(schema, { io }), schemas);
  const error = toSchema(errorSchema, 'output');
  const paths = Object.fromEntries(
    [...new Set(documentedRoutes.map(({ path }) => path))].map((path) => [
      path,
      Object.fromEntries(
        documentedRoutes
          .filter((route) => route.path === path)
          .map((route) => [route.method.toLowerCase(), describeRoute(route, toSchema, schemas, error)]),
      ),
    ]),
  );
  const used = new Set(documentedRoutes.map((route) => tagOf(route).name));
  const known = new Map([...Object.values(tags), otherTag].map((tag) => [tag.name, tag]));
  return {
    openapi: '3.1.0',
    info: { title: 'Portico public API', version, description: apiIntroduction },
    servers: [{ url: address.replace(/\/v1$/, '') }],
    tags: [...known.values()].filter(({ name }) => used.has(name)),
    security: [{ [SECURITY_SCHEME]: [] }],
    paths,
    components: {
      securitySchemes: {
        [SECURITY_SCHEME]: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'svc_ and 43 characters',
          description:
            'An application token. Each operation lists scopes, and the token needs one of them. `all` includes every other scope.',
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

function describeRoute(route: Documented, toSchema: ToSchema, schemas: Record<string, Json>, error: Json): Operation {
  const { id, summary, scopes, body, errors = {} } = route;
  const withExample = (schema: Json, name = '') => ({ schema, example: exampleOf(schema, schemas, name) });
  const parameters = [
    ...pathParameters(route, withExample),
    ...queryParameters(route, toSchema, withExample),
    ...headerParameters(route),
  ];
  const anyOf = scopes === null ? [[]] : [...scopes, 'all'].map((scope) => [scope]);
  const failures = statusesOf(route).map((status) => [
    status,
    errors[status]
      ? describeError(status, errors[status], error)
      : { $ref: `#/components/responses/${statuses[status]!.name}` },
  ]);
  return {
    operationId: id,
    summary,
    description: describeRequirements(route),
    tags: [tagOf(route).name],
    security: [...new Map(anyOf.map((needed) => [`${needed}`, { [SECURITY_SCHEME]: needed }])).values()],
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: { required: true, content: { 'application/json': withExample(toSchema(body, 'input')) } },
    }),
    responses: {
      [route.status]: {
        description: 'Success',
        headers: successHeaders(route),
        ...successContent(route, toSchema, withExample),
      },
      ...Object.fromEntries(failures),
    },
  };
}

/**
 * Lists the statuses that programs may need to distinguish. `4XX` and `5XX` cover the rest
 * (behaviour api 7.2).
 */
function statusesOf({ path, body, also = [] }: Documented): readonly string[] {
  const notFound = path.includes('{') ? ['404'] : [];
  const bodyStatuses = body ? ['413'] : [];
  const all = new Set(['400', '401', '403', ...notFound, ...also.map(String), ...bodyStatuses, '429']);
  return [...[...all].sort(), '4XX', '5XX'];
}

function describeRequirements({ summary, about, scopes, admin, query }: Documented): string {
  const requirements = [
    scopes === null
      ? 'any application token'
      : `a token with the scope ${[...new Set([...scopes, 'all'])].map((scope) => `\`${scope}\``).join(' or ')}`,
    admin && 'the Admin role for its user',
  ];
  const pages = query && 'cursor' in query && ' Send `nextCursor` as `cursor` for the next page.';
  return `${about ?? `${summary}.`} Needs ${requirements.filter(Boolean).join(', and ')}.${pages || ''}`;
}

function tagOf({ path, tag }: Documented): { readonly name: string; readonly description: string } {
  if (tag !== undefined) return tag;
  const segment = path.split('/').findLast((part) => Object.hasOwn(tags, part));
  return segment === undefined ? otherTag : tags[segment]!;
}

const referenceHeaders = (names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${headers[name]!.name}` }]));

/** Headers of a successful response. Routes with their own errors do not count against the token's limits. */
const successHeaders = ({ errors, answerHeaders = {} }: Documented): Json => ({
  ...(!errors && referenceHeaders(limitHeaders)),
  ...Object.fromEntries(
    Object.entries(answerHeaders).map(([name, { about, example }]) => [
      name,
      { description: about, required: false, schema: { type: 'string' }, example },
    ]),
  ),
});

function describeError(
  status: string,
  { about, code, message }: NonNullable<Documented['errors']>[string],
  schema: Json,
): ResponseObject {
  const isLate = status === '429';
  // Behaviour api 4.2, 4: with 409, `error` and `message` are the same.
  const error = status === '409' ? message : statuses[status]!.error;
  const example = { error, message, code, ...(isLate && { retry_after: 12 }) };
  return {
    description: about,
    ...(isLate && { headers: referenceHeaders(['Retry-After']) }),
    content: { 'application/json': { schema, example } },
  };
}

const headerParameters = ({ headers: requestHeaders = {} }: Documented): ParameterObject[] =>
  Object.entries(requestHeaders).map(([name, { about, example }]) => {
    const schema = { type: 'string', minLength: 1, maxLength: 255 };
    return { name, in: 'header', required: false, description: about, schema, example };
  });

function describeStatus(status: string, schema: Json): Json {
  const { error, description, message, code } = statuses[status]!;
  const example = { error, message, code, ...(status === '429' && { retry_after: 12 }) };
  // Requests without a valid token have no rate limit headers.
  const headerRefs = status === '429' ? referenceHeaders([...limitHeaders, 'Retry-After']) : undefined;
  return {
    description,
    ...(headerRefs && { headers: headerRefs }),
    content: { 'application/json': { schema, example } },
  };
}

type WithExample = (schema: Json, name?: string) => { readonly schema: Json; readonly example: unknown };

function successContent(
  { answers, streams }: Documented,
  toSchema: ToSchema,
  withExample: WithExample,
): { readonly content?: Content } {
  const types = streams?.map((type) => [type, { schema: { type: 'string' }, example: '' }] as const) ?? [];
  const json = answers ? [['application/json', withExample(toSchema(answers, 'output'))] as const] : [];
  const all = [...json, ...types];
  return all.length === 0 ? {} : { content: Object.fromEntries(all) };
}

function pathParameters({ path }: Documented, withExample: WithExample): ParameterObject[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const isNumber = /^(token|note|message)Id$/.test(name);
    const schema = isNumber ? { type: 'integer', minimum: 1 } : { type: 'string', minLength: 1 };
    const description = describeParameter(name, 'a text');
    return { name, in: 'path', required: true, description, ...withExample(schema, isNumber ? 'id' : name) };
  });
}

function queryParameters({ query = {} }: Documented, toSchema: ToSchema, withExample: WithExample): ParameterObject[] {
  return Object.entries(query).map(([name, { schema, expected }]) => {
    const schemaPart = withExample(toSchema(schema, 'input'), name);
    return { name, in: 'query', required: false, description: describeParameter(name, expected), ...schemaPart };
  });
}

/** Moves named schemas (`.meta({ id })`) to `schemas` and returns a reference. */
function extractSchemas({ $schema, $defs, ...schema }: Json, schemas: Record<string, Json>): Json {
  for (const [name, definition] of Object.entries(($defs ?? {}) as Record<string, Json>)) {
    const { $schema: _, id: __, ...rest } = definition;
    schemas[name] ??= rewriteReferences(rest) as Json;
  }
  const { id, ...rest } = schema;
  if (typeof id !== 'string') return rewriteReferences(rest) as Json;
  schemas[id] ??= rewriteReferences(rest) as Json;
  return { $ref: `#/components/schemas/${id}` };
}

function rewriteReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rewriteReferences);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) =>
      key === '$ref' && typeof one === 'string'
        ? [key, one.replace('#/$defs/', '#/components/schemas/')]
        : [key, rewriteReferences(one)],
    ),
  );
}
