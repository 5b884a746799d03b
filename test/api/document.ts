// The OpenAPI document of a server, and validation of responses against it.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import type { ApiDocument, Operation } from '../../src/api/openapi/document.ts';

export type Json = Record<string, unknown>;

export interface Described {
  readonly method: string;
  /** With placeholders such as `{name}`. */
  readonly path: string;
  readonly operation: Operation;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface Judge {
  readonly operations: readonly Described[];
  /** Violations of the document; empty if the response is valid. */
  faults(operation: Described, answer: Answered): string[];
  /** The error of a value against the schema at a pointer such as `paths/~1v1~1token/get/...`. */
  isValid(pointer: string, value: unknown): string | undefined;
  /** The target of a `$ref`; undefined if there is none. */
  resolve(reference: string): unknown;
}

export const escapeSegment = (segment: string): string => segment.replaceAll('~', '~0').replaceAll('/', '~1');

export function createJudge(document: ApiDocument): Judge {
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  // The CommonJS package exports its default as the function itself and as a property.
  (ajvFormats as unknown as (on: Ajv2020) => void)(ajv);
  ajv.addSchema(document as unknown as Json, 'api');
  const compiled = new Map<string, ValidateFunction>();

  const isValid: Judge['isValid'] = (pointer, value) => {
    const known =
      compiled.get(pointer) ?? ajv.compile({ $ref: `api#/${pointer.split('/').map(encodeURIComponent).join('/')}` });
    compiled.set(pointer, known);
    return known(value) ? undefined : ajv.errorsText(known.errors);
  };
  const resolve: Judge['resolve'] = (reference) =>
    reference
      .replace(/^#\//, '')
      .split('/')
      .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>((at, segment) => (at as Json | undefined)?.[segment], document);

  return {
    operations: Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    ),
    isValid,
    resolve,
    faults({ method, path, operation }, { status, headers, text }) {
      const range = `${Math.floor(status / 100)}XX`;
      const listed = operation.responses[status] ?? (status === 405 ? operation.responses[range] : undefined);
      if (!listed) return [`${status} is not documented`];
      const at = operation.responses[status] ? `${status}` : range;
      const place =
        '$ref' in listed
          ? listed.$ref.slice(2)
          : `paths/${escapeSegment(path)}/${method.toLowerCase()}/responses/${at}`;
      const response = resolve(place) as { readonly headers?: Json; readonly content?: Json };
      const needed = Object.entries(response.headers ?? {}).filter(([, one]) => (one as Json).required !== false);
      const missing = needed.map(([name]) => name).filter((name) => !/^\d+$/.test(headers.get(name) ?? ''));
      const faults = missing.map((name) => `${status} without ${name}`);
      if (!response.content) return text === '' ? faults : [...faults, `${status} has a body`];
      const type = headers.get('content-type') ?? '';
      const media = Object.keys(response.content).find((one) => type.split(';')[0] === one.split(';')[0]);
      if (media === undefined) return [...faults, `${status} is ${type}`];
      if (media !== 'application/json') return faults;
      const problem = isValid(`${place}/content/${escapeSegment(media)}/schema`, JSON.parse(text));
      return problem === undefined ? faults : [...faults, `${status}: ${problem} in ${text.slice(0, 300)}`];
    },
  };
}
