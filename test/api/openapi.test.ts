// The OpenAPI document, which is public: it is complete and consistent, and its examples are valid.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiDocument, ParameterObject } from '../../src/api/openapi/document.ts';
import { routes } from '../../src/api/routes.ts';
import { webhookDescription } from '../../src/api/workflows/webhook-description.ts';
import { openShop, type Shop } from '../app/shop.ts';
import { createJudge, escapeSegment, type Json, type Judge } from './document.ts';

const webhook = webhookDescription;
const described = [...routes, webhook];

let shop: Shop;
let document: ApiDocument;
let judge: Judge;
beforeAll(async () => {
  shop = await openShop();
  document = (await (await fetch(`${shop.address}/v1/openapi.json`)).json()) as ApiDocument;
  judge = createJudge(document);
});
afterAll(() => shop?.stop());

/** Every object in the value, with its JSON pointer. */
function walk(value: unknown, at = ''): (readonly [at: string, one: Json])[] {
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.entries(value).flatMap(([key, one]) => walk(one, `${at}/${escapeSegment(key)}`));
  return Array.isArray(value) ? below : [[at, value as Json], ...below];
}

test('the document is public, has version 3.1, and has exactly one operation per route and for the webhook', () => {
  const told = judge.operations.map(({ method, path, operation }) => `${operation.operationId}: ${method} ${path}`);
  expect([document.openapi, document.servers]).toEqual(['3.1.0', [{ url: shop.address }]]);
  expect(told.sort()).toEqual(described.map(({ id, method, path }) => `${id}: ${method} ${path}`).sort());
});

test('operation ids are unique, and every operation has a summary, a description and a known tag', () => {
  const ids = judge.operations.map(({ operation }) => operation.operationId);
  const tags = new Set(document.tags.map(({ name }) => name));
  const poor = judge.operations.filter(
    ({ operation: { summary, description, tags: its } }) =>
      !summary || description.length <= summary.length || its.length !== 1 || !tags.has(its[0]!),
  );
  expect([new Set(ids).size, poor]).toEqual([ids.length, []]);
  expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([]);
  expect(tags.has('Other')).toBe(false);
  expect(document.tags.every(({ description }) => description.length > 10)).toBe(true);
});

test('every reference resolves, and every component is used', () => {
  const references = walk(document).flatMap(([, { $ref }]) => (typeof $ref === 'string' ? [$ref] : []));
  const { responses, headers, schemas } = document.components;
  const named = Object.entries({ responses, headers, schemas }).flatMap(([kind, all]) =>
    Object.keys(all).map((name) => `#/components/${kind}/${name}`),
  );
  expect(references.filter((one) => judge.resolve(one) === undefined)).toEqual([]);
  // Error responses for future routes; no operation uses them yet.
  const spare = named.filter((one) => !references.includes(one));
  expect(spare.filter((one) => !/\/responses\/(Conflict|TooLarge)$/.test(one))).toEqual([]);
});

test('every schema is valid JSON Schema 2020-12', () => {
  const ajv = new Ajv2020({ strict: false });
  const schemas = walk(document).filter(([at]) => at.endsWith('/schema') || /^\/components\/schemas\/[^/]+$/.test(at));
  expect(schemas.length).toBeGreaterThan(10);
  expect(schemas.filter(([, schema]) => ajv.validateSchema(schema) !== true)).toEqual([]);
});

test('every parameter and body has an example that matches its schema', () => {
  const shown = walk(document).filter(([, one]) => 'schema' in one);
  expect(shown.filter(([, one]) => !('example' in one)).map(([at]) => at)).toEqual([]);
  const wrong = shown.flatMap(([at, { example }]) => judge.isValid(`${at.slice(1)}/schema`, example) ?? []);
  expect(wrong).toEqual([]);
});

test('path parameters match the template, other parameters are optional, and all are described', () => {
  for (const { path, operation } of judge.operations) {
    const parameters: readonly ParameterObject[] = operation.parameters ?? [];
    const inPath = parameters.filter((one) => one.in === 'path');
    expect(inPath.map(({ name }) => name)).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    expect(parameters.filter((one) => one.required !== (one.in === 'path') || one.description.length < 5)).toEqual([]);
    expect(new Set(parameters.map((one) => `${one.in} ${one.name}`)).size).toBe(parameters.length);
  }
});

test('every operation lists its errors, the rate limit headers and the scopes it needs', () => {
  for (const { path, operation } of judge.operations) {
    const statuses = Object.keys(operation.responses);
    const always = ['400', '401', '403', '429', '4XX', '5XX', ...(path.includes('{') ? ['404'] : [])];
    expect(always.filter((status) => !statuses.includes(status))).toEqual([]);
    expect(operation.requestBody === undefined || statuses.includes('413')).toBe(true);
    const [good, ...more] = statuses.filter((status) => status.startsWith('2'));
    const { headers } = operation.responses[good!] as { readonly headers: Json };
    const isCounted = operation.operationId !== webhook.id;
    expect([more, Object.keys(headers)]).toEqual([
      [],
      isCounted ? ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] : ['Idempotency-Replayed'],
    ]);
    const route = described.find(({ id }) => id === operation.operationId)!;
    const needed = operation.security.flatMap((one) => one.applicationToken ?? []);
    expect(needed.sort()).toEqual(route.scopes === null ? [] : [...new Set([...route.scopes, 'all'])].sort());
  }
});

test('the webhook lists its responses, its own error codes and its headers', () => {
  const { operation } = judge.operations.find(({ path }) => path === '/v1/webhooks/workflows/{signedId}')!;
  expect(Object.keys(operation.responses)).toEqual([
    '202',
    '400',
    '401',
    '403',
    '404',
    '409',
    '413',
    '429',
    '4XX',
    '5XX',
  ]);
  const codes = [400, 404, 409, 429].map((status) => {
    const { description } = operation.responses[status] as { readonly description: string };
    return /`(\w+)`/.exec(description)?.[1];
  });
  expect(codes).toEqual(['INVALID_WEBHOOK_ADDRESS', 'UNKNOWN_WEBHOOK', 'RUN_ONGOING', 'RATE_LIMITED']);
  const headers = operation.parameters?.flatMap((one) => (one.in === 'header' ? [one.name] : []));
  expect(headers).toEqual(['Idempotency-Key', 'webhook-id', 'webhook-timestamp', 'webhook-signature']);
});
