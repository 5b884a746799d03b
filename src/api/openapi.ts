// The OpenAPI document, made of the table of routes.
import { type Route, routes } from './routes.ts';

const errorSchema = {
  type: 'object',
  required: ['error', 'message', 'code'],
  properties: {
    error: { type: 'string', description: 'What the status means' },
    message: { type: 'string', description: 'What to do about it' },
    code: { type: 'string', description: 'For programs, such as RATE_LIMITED' },
  },
} as const;

const error = {
  description: 'Refused',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
};
const limited = {
  ...error,
  description: 'Too many calls with this token',
  headers: { 'Retry-After': { required: true, schema: { type: 'string' }, description: 'Seconds to wait' } },
};

/** `address`: of `/v1`. */
export function describeApi(address: string, version: string): object {
  return {
    openapi: '3.1.0',
    info: { title: 'Portico public API', version },
    servers: [{ url: address.replace(/\/v1$/, '') }],
    security: [{ applicationToken: [] }],
    paths: Object.fromEntries(
      [...new Set(routes.map(({ path }) => path))].map((path) => [
        path,
        Object.fromEntries(
          routes.filter((route) => route.path === path).map((route) => [route.method.toLowerCase(), describe(route)]),
        ),
      ]),
    ),
    components: {
      securitySchemes: {
        applicationToken: {
          type: 'http',
          scheme: 'bearer',
          description: 'An application token with scopes of this API',
        },
      },
      schemas: { Error: errorSchema },
    },
  };
}

function describe({ path, summary, scopes, admin, status, answers }: Route): object {
  const needs = [scopes && `a token with ${scopes.join(' or ')}`, admin && 'the Admin role'].filter(Boolean).join(', ');
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', minLength: 1 },
  }));
  return {
    summary,
    ...(needs && { description: `Needs ${needs}.` }),
    ...(parameters.length > 0 && { parameters }),
    responses: {
      [status]: {
        description: 'Done',
        ...(answers && { content: { 'application/json': { schema: answers } } }),
      },
      429: limited,
      '4XX': error,
      '5XX': error,
    },
  };
}
