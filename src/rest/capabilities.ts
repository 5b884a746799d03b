// Capabilities that clients read before they request records: the operators of each field, and the fields that allow
// grouping. The response contains only collections that the caller may browse.

import type { CollectionDescription } from '../agent/requests.ts';
import { fail } from '../core/errors.ts';
import { bucketUnits } from '../core/filter/measures.ts';
import { snakeOperator } from './filters.ts';
import { type AnyDataRoute, type DataRequest, dataRoute } from './route.ts';
import { describe } from './visible-schema.ts';

const agentCapabilities = Object.freeze({
  canUseProjectionOnGetOne: true,
  canUseProjectionViaHeader: true,
  canUseProjectionViaHeaderOnList: true,
  canUseMultipleFieldsProjectionOnRelation: true,
  canUseAuditTrail: false,
});

export const capabilityRoutes: readonly AnyDataRoute[] = [
  dataRoute({
    method: 'POST',
    path: '/_internal/capabilities',
    action: 'capabilities',
    writes: false,
    parse: parseNames,
    subject: () => ({}),
    async run(names, call) {
      const visible = call.engine.index(call.access).map(({ name }) => name);
      const selected = names ? visible.filter((name) => names.includes(name)) : visible;
      const collections = selected.map((name) => capabilitiesOf(describe(call, name)));
      return { status: 200, body: { nativeQueryConnections: [], agentCapabilities, collections } };
    },
  }),
  dataRoute({
    method: 'POST',
    path: '/scope-cache-invalidation',
    action: 'scopeCacheInvalidation',
    writes: false,
    parse({ body }) {
      const { renderingId } = (body ?? {}) as { readonly renderingId?: unknown };
      if (!/^\d+$/.test(String(renderingId)))
        fail('INVALID_ARGUMENT', { argument: 'renderingId', problem: 'expected a body such as {"renderingId": 1}.' });
      return null;
    },
    subject: () => ({}),
    // Rights are read on every call, so there is no cache to invalidate.
    run: async () => ({ status: 204 }),
  }),
];

/** Returns undefined for all collections. */
function parseNames({ body }: DataRequest): readonly string[] | undefined {
  const { collectionNames } = (body ?? {}) as { readonly collectionNames?: unknown };
  if (collectionNames === undefined) return undefined;
  if (Array.isArray(collectionNames) && collectionNames.every((name) => typeof name === 'string'))
    return collectionNames;
  return fail('INVALID_ARGUMENT', { argument: 'collectionNames', problem: 'expected a list of names.' });
}

function capabilitiesOf({ name, fields, relations }: CollectionDescription) {
  return {
    name,
    fields: [
      ...fields
        .filter(({ type }) => !type.startsWith('{'))
        .map((field) => ({
          name: field.name,
          type: typeOf(field.type),
          ...(field.binaryMode && { binaryMode: field.binaryMode }),
          operators: field.operators.map(snakeOperator),
          isGroupable: field.sortable && field.type !== 'Binary' && !field.type.startsWith('['),
        })),
      // A relation itself is not groupable. The fields of its records are.
      ...relations
        .filter(({ kind }) => kind === 'one')
        .map((relation) => ({ name: relation.name, type: 'ManyToOne', isGroupable: false })),
    ],
    aggregationCapabilities: { supportGroups: true, supportedDateOperations: bucketUnits },
  };
}

/** `[String]` is a list of one type. */
const typeOf = (type: string): string | readonly string[] => (type.startsWith('[') ? [type.slice(1, -1)] : type);
