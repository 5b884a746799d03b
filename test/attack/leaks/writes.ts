// Attempts by dry runs of writes: does a record exist, which values does it have, does a key point to something?
import { type Leak, tool } from './leak.ts';

const one = (about: Leak['about'], name: string, run: Leak['run']): Leak => ({
  ...{ id: `${about}: dry run: ${name}`, about, run },
});
const dryRun = true;

const records = [
  ['customers', 5, { city: 'Rome' }],
  ['customers', 3, { city: 'Rome' }],
  ['customers', 7, { city: 'Rome' }],
  ['orders', 21, { label: 'x' }],
  ['orders', 20, { label: 'x' }],
  ['items', 11, { sku: 'x' }],
  ['tags', 5, { word: 'x' }],
  ['agents', 30, { name: 'x' }],
  ['brokers', 30, { name: 'x' }],
  ['staff', 3, { name: 'x' }],
] as const;

const keys = [
  ['orders', 1, 'customer_id', 5],
  ['orders', 1, 'customer_id', 7],
  ['orders', 1, 'agent_id', 30],
  ['orders', 1, 'staff_id', 3],
  ['customers', 1, 'parent_id', 5],
  ['customers', 1, 'parent_id', 8],
  ['items', 1, 'order_id', 21],
  ['items', 1, 'order_id', 22],
] as const;

const links = [
  ['customers', 1, 'orders', 21],
  ['customers', 1, 'children', 5],
  ['orders', 1, 'items', 11],
  ['orders', 1, 'tags', 5],
  ['tags', 1, 'orders', 21],
  ['customers', 5, 'orders', 1],
  ['orders', 21, 'items', 1],
] as const;

export const writeLeaks: readonly Leak[] = [
  ...records.flatMap(([collectionName, recordId, attributes]) => [
    one(
      'row',
      `update ${collectionName} ${recordId}`,
      tool('update', { collectionName, recordId, attributes, dryRun }),
    ),
    one(
      'row',
      `update ${collectionName} 1 and ${recordId}`,
      tool('update', {
        ...{ collectionName, recordIds: [1, recordId], attributes, dryRun },
      }),
    ),
  ]),
  ...keys.map(([collectionName, recordId, key, value]) =>
    one(
      'row',
      `${collectionName} ${key} ${value}`,
      tool('update', {
        ...{ collectionName, recordId, attributes: { [key]: value }, dryRun },
      }),
    ),
  ),
  ...links.map(([collectionName, parentRecordId, relationName, targetRecordId]) =>
    one(
      'row',
      `link ${collectionName} ${parentRecordId} ${relationName} ${targetRecordId}`,
      tool('associate', {
        ...{ collectionName, relationName, parentRecordId, targetRecordId, dryRun },
      }),
    ),
  ),
  ...links.map(([collectionName, parentRecordId, relationName, targetRecordId]) =>
    one(
      'row',
      `unlink ${collectionName} ${parentRecordId} ${relationName} ${targetRecordId}`,
      tool('dissociate', {
        ...{ collectionName, relationName, parentRecordId, targetRecordIds: [targetRecordId], dryRun },
      }),
    ),
  ),
  ...(
    [
      ['customers', 1, { city: 'Rome' }],
      ['customers', 1, { credit: 7317 }],
      ['customers', 2, { 'parent:credit': 7317 }],
      ['orders', 1, { margin: 31 }],
      ['orders', 1, { label: 'x' }],
      ['orders', 1, { customer_tier: 'gold' }],
      ['items', 1, { cost: 5 }],
      ['tags', 1, { secret: 'silk' }],
      ['agents', 1, { bonus: 11 }],
      ['remarks', 1, { about_type: 'order' }],
    ] as const
  ).map(([collectionName, recordId, attributes]) =>
    one(
      'field',
      `update ${collectionName} ${Object.keys(attributes)}`,
      tool('update', {
        ...{ collectionName, recordId, attributes, dryRun },
      }),
    ),
  ),
];
