// All attempts: templates x places, and those that need calls of their own.
import { borrowed, forged, get, type Leak, pages, post, tool } from './leak.ts';
import { leaksOf, type Place } from './of-a-field.ts';
import { leaksOfMany, type Many } from './of-a-relation.ts';
import { writeLeaks } from './writes.ts';

type Given = readonly [collection: string, field: string, type: Place['type'], guess: string | number, visible: string];

const places = (about: Leak['about'], ...given: readonly Given[]): Place[] =>
  given.map(([collection, field, type, guess, visible]) => ({ about, collection, field, type, guess, visible }));

const hidden = places(
  'field',
  ['customers', 'credit', 'number', 7317, 'id'],
  ['customers', 'tier', 'text', 'iron', 'city'],
  ['customers', 'birthday', 'date', '1970-02-03', 'joined'],
  ['customers', 'referrer_id', 'number', 6, 'id'],
  ['customers', 'referrer:name', 'text', 'Bea', 'city'],
  ['customers', 'parent:credit', 'number', 7317, 'id'],
  ['customers', 'parent_credit', 'number', 7317, 'id'],
  ['orders', 'margin', 'number', 31, 'total'],
  ['orders', 'note', 'text', 'amber', 'label'],
  ['orders', 'paid', 'date', '2024-01-12', 'placed'],
  ['orders', 'coupon_id', 'number', 2, 'total'],
  ['orders', 'coupon:code', 'text', 'spring', 'label'],
  ['orders', 'customer:credit', 'number', 7317, 'total'],
  ['orders', 'customer:tier', 'text', 'iron', 'label'],
  ['orders', 'customer_tier', 'text', 'iron', 'label'],
  ['orders', 'customer:birthday', 'date', '1970-02-03', 'placed'],
  ['orders', 'staff:name', 'text', 'Amon', 'label'],
  ['orders', 'staff:wage', 'number', 4100, 'total'],
  ['orders', 'agent:bonus', 'number', 11, 'total'],
  ['items', 'cost', 'number', 5, 'quantity'],
  ['items', 'order:margin', 'number', 31, 'quantity'],
  ['items', 'order:customer:tier', 'text', 'iron', 'sku'],
  ['tags', 'secret', 'text', 'silk', 'word'],
  ['agents', 'bonus', 'number', 11, 'id'],
  ['remarks', 'about_type', 'text', 'order', 'body'],
  ['remarks', 'about_orders:label', 'text', 'apples', 'body'],
  ['visits', 'customer:credit', 'number', 7317, 'minutes'],
  ['orders', 'broker:bonus', 'number', 11, 'total'],
  ['brokers', 'bonus', 'number', 11, 'id'],
  ['orders', 'namesake:credit', 'number', 87, 'total'],
  ['customers', 'first_order:margin', 'number', 31, 'id'],
  // Other spellings.
  ['customers', 'Credit', 'number', 7317, 'id'],
  ['customers', ' credit', 'number', 7317, 'id'],
  ['customers', 'parent@@@credit', 'number', 7317, 'id'],
  ['customers', 'customers_through_parent_id:credit', 'number', 7317, 'id'],
  ['orders', 'customer.tier', 'text', 'iron', 'label'],
  ['Orders', 'Margin', 'number', 31, 'total'],
);

const beyond = places(
  'row',
  ['customers', 'name', 'text', 'Quill', 'city'],
  ['customers', 'joined', 'date', '2022-01-01', 'joined'],
  ['customers', 'parent:name', 'text', 'Quill', 'city'],
  ['customers', 'parent_name', 'text', 'Quill', 'city'],
  ['customers', 'parent:parent:name', 'text', 'Quill', 'city'],
  ['orders', 'label', 'text', 'quinoa', 'label'],
  ['orders', 'total', 'number', 999, 'id'],
  ['orders', 'placed', 'date', '2024-02-15', 'placed'],
  ['orders', 'customer:name', 'text', 'Quill', 'label'],
  ['orders', 'customer_name', 'text', 'Quill', 'label'],
  ['orders', 'customer:joined', 'date', '2024-03-05', 'placed'],
  ['orders', 'agent:name', 'text', 'Quint', 'label'],
  ['orders', 'agent:id', 'number', 30, 'total'],
  ['items', 'sku', 'text', 'sku-q', 'sku'],
  ['items', 'quantity', 'number', 800, 'id'],
  ['items', 'order:label', 'text', 'quinoa', 'sku'],
  ['items', 'order:total', 'number', 999, 'quantity'],
  ['items', 'order:customer:name', 'text', 'Quill', 'sku'],
  ['tags', 'word', 'text', 'quaint', 'word'],
  ['order_tags', 'tag:word', 'text', 'quaint', 'kind'],
  ['order_tags', 'order:label', 'text', 'quinoa', 'kind'],
  ['agents', 'name', 'text', 'Quint', 'name'],
  ['visits', 'minutes', 'number', 400, 'id'],
  ['items', 'rate', 'number', 3, 'quantity'],
  ['visits', 'pace', 'number', 2, 'minutes'],
  ['parcels', 'grams', 'number', 5, 'id'],
  ['parcels', 'ratio', 'number', 1, 'grams'],
  ['visits', 'parcel:ratio', 'number', 1, 'minutes'],
  ['visits', 'parcel:grams', 'number', 5, 'minutes'],
  ['customers', 'city', 'text', 'OSLO', 'name'],
  ['orders', 'status', 'text', 'PAID', 'label'],
  ['customers', 'title', 'text', 'Dear Quill', 'name'],
  ['customers', 'parent_title', 'text', 'Child of Quill', 'name'],
  ['orders', 'customer:title', 'text', 'Dear Quill', 'label'],
  ['orders', 'broker:name', 'text', 'Quint', 'label'],
  ['orders', 'broker:id', 'number', 30, 'total'],
  ['brokers', 'name', 'text', 'Quint', 'name'],
  ['orders', 'namesake:id', 'number', 8, 'total'],
  ['orders', 'namesake:city', 'text', 'Riga', 'label'],
  ['customers', 'first_order:label', 'text', 'APPLES', 'city'],
  ['customers', 'customers_through_parent_id:name', 'text', 'Quill', 'city'],
  ['customers', 'parent@@@name', 'text', 'Quill', 'city'],
  ['Staff', 'wage', 'number', 4100, 'id'],
  ['visits', 'place', 'text', 'quay', 'place'],
  ['staff', 'name', 'text', 'Amon', 'name'],
  ['staff', 'wage', 'number', 4100, 'id'],
  ['watches', 'customer_id', 'number', 1, 'id'],
).map((place) => ({ ...place, visible: place.visible === place.field ? 'id' : place.visible }));

const many: readonly Many[] = [
  ...(
    [
      ['row', 'customers', 'orders', 'label', 'quinoa', 'orders', 1],
      ['row', 'customers', 'children', 'name', 'Quill', 'customers', 1],
      ['row', 'customers', 'orders:items', 'sku', 'sku-q', 'items', 1],
      ['row', 'customers', 'visits', 'place', 'quay', 'visits', 2],
      ['row', 'orders', 'items', 'sku', 'sku-q', 'items', 1],
      ['row', 'orders', 'tags', 'word', 'fresh', 'tags', 5],
      ['row', 'orders', 'order_tags', 'tag_id', 1, 'order_tags', 5],
      ['row', 'tags', 'orders', 'label', 'eggs', 'orders', 1],
      ['row', 'tags', 'orders:customer', 'name', 'Bea', 'customers', 1],
      ['row', 'customers', 'watched', 'label', 'apples', 'orders', 1],
      ['row', 'brokers', 'deals', 'label', 'quinoa', 'orders', 1],
      ['row', 'brokers', 'deals:customer', 'name', 'Quill', 'customers', 1],
      ['row', 'agents', 'orders', 'label', 'quinoa', 'orders', 1],
      ['row', 'staff', 'orders', 'label', 'quinoa', 'orders', 1],
      ['field', 'customers', 'referred', 'name', 'Eli', 'customers', 6],
      ['field', 'coupons', 'orders', 'label', 'apples', 'orders', 1],
      ['field', 'orders', 'remarks', 'body', 'kind', 'remarks', 1],
      ['field', 'orders', 'tags', 'secret', 'silk', 'tags', 1],
    ] as const
  ).map(([about, collection, relation, field, guess, to, parent]) => ({
    ...{ about, collection, relation, field, guess, to, parent },
    isNumber: typeof guess === 'number',
  })),
  ...(
    [
      ['row', 'customers', 'orders', 'total', 999, 'orders', 1],
      ['field', 'customers', 'orders', 'margin', 31, 'orders', 1],
      ['row', 'orders', 'items', 'quantity', 800, 'items', 2],
      ['row', 'orders', 'items', 'rate', 4, 'items', 2],
      ['row', 'orders', 'parcels', 'ratio', 1, 'parcels', 4],
      ['row', 'customers', 'visits', 'pace', 2, 'visits', 2],
      ['row', 'customers', 'orders:items', 'quantity', 800, 'items', 2],
      ['field', 'orders', 'items', 'cost', 5, 'items', 1],
    ] as const
  ).map(([about, collection, relation, field, guess, to, parent]) => ({
    ...{ about, collection, relation, field, guess, to, parent },
    isNumber: true,
  })),
];

const one = (about: Leak['about'], name: string, run: Leak['run']): Leak => ({ id: `${about}: ${name}`, about, run });
const size = { pagination: { size: 1 } };
const collectionName = 'customers';
const count = { n: { count: true } };

/** Records by id: one that is only in world A, beyond the row scope. */
const byId: readonly Leak[] = (
  [
    ['customers', 5],
    ['customers', 3],
    ['orders', 21],
    ['orders', 20],
    ['items', 11],
    ['tags', 5],
    ['agents', 30],
    ['staff', 3],
  ] as const
).flatMap(([collection, id]) => {
  const at = `${collection} ${id}`;
  const filters = { field: 'id', operator: 'Equal', value: id };
  return [
    one('row', `${at}: http record`, get(`/${collection}/${id}`)),
    one('row', `${at}: list by id`, tool('list', { collectionName: collection, filters, enableCount: true })),
    one('row', `${at}: http by id`, get(`/${collection}/count`, { filters: JSON.stringify(filters) })),
    one('row', `${at}: chart`, tool('getChart', { collectionName: collection, recordId: id, chartName: 'age' })),
    one('row', `${at}: http chart`, get(`/_charts/${collection}/age`, { record_id: String(id) })),
  ];
});

/** Related records of a record that is beyond the row scope. */
const ofUnseen: readonly Leak[] = (
  [
    ['customers', 5, 'orders'],
    ['customers', 5, 'children'],
    ['orders', 21, 'items'],
    ['orders', 21, 'tags'],
    ['orders', 21, 'customer'],
    ['tags', 5, 'orders'],
    ['items', 11, 'order'],
  ] as const
).flatMap(([collection, id, relation]) => {
  const at = `/${collection}/${id}/relationships/${relation}`;
  const related = { collectionName: collection, relationName: relation, parentRecordId: String(id), enableCount: true };
  return [
    one('row', `${collection} ${id} ${relation}: related`, tool('listRelated', related)),
    one('row', `${collection} ${id} ${relation}: http`, get(at)),
    one('row', `${collection} ${id} ${relation}: http count`, get(`${at}/count`)),
  ];
});

/** To one, from a visible record to one that is not. */
const toOne: readonly Leak[] = (
  [
    ['orders', 3, 'customer'],
    ['orders', 4, 'agent'],
    ['orders', 5, 'agent'],
    ['orders', 1, 'staff'],
    ['orders', 1, 'coupon'],
    ['customers', 4, 'parent'],
    ['customers', 1, 'referrer'],
    ['items', 5, 'order'],
  ] as const
).flatMap(([collection, id, relation]) => [
  one('row', `${collection} ${id} ${relation}: http to one`, get(`/${collection}/${id}/relationships/${relation}`)),
  one('row', `${collection} ${id} ${relation}: http record`, get(`/${collection}/${id}`)),
]);

const everything = [
  'customers',
  'orders',
  'items',
  'agents',
  'tags',
  'order_tags',
  'visits',
  'parcels',
  'remarks',
  'staff',
  'watches',
];

/** Whole collections: rows, counts, pages and exports, with nothing named. */
const whole: readonly Leak[] = everything.flatMap((name) => [
  one('row', `${name}: list`, tool('list', { collectionName: name, enableCount: true, format: 'records' })),
  one('row', `${name}: pages`, pages('list', { collectionName: name, ...size, enableCount: true })),
  one(
    'row',
    `${name}: down`,
    pages('list', { collectionName: name, ...size, sort: [{ field: 'id', ascending: false }] }),
  ),
  one('row', `${name}: second page`, tool('list', { collectionName: name, pagination: { size: 2, number: 2 } })),
  one('row', `${name}: last page`, tool('list', { collectionName: name, pagination: { size: 2, number: 9 } })),
  one('row', `${name}: count`, tool('aggregate', { collectionName: name, operation: 'count' })),
  one('row', `${name}: http`, get(`/${name}`)),
  one('row', `${name}: http count`, get(`/${name}/count`)),
  one('row', `${name}: csv`, get(`/${name}.csv`)),
  one('row', `${name}: chart`, post(`/stats/${name}`, { type: 'Value', aggregator: 'Count' })),
]);

/** Code of the operator uses hidden fields. Of visible records it shows the same in both worlds. */
const ofCode: readonly Leak[] = [
  ...(['Gold', 'From Oslo'] as const).flatMap((segment) => [
    one('row', `segment ${segment}: list`, tool('list', { collectionName, segment, enableCount: true })),
    one('row', `segment ${segment}: pages`, pages('list', { collectionName, segment, ...size })),
    one('row', `segment ${segment}: aggregate`, tool('aggregate', { collectionName, segment, measures: count })),
    one('row', `segment ${segment}: http`, get('/customers', { segment, 'fields[customers]': 'id' })),
    one('row', `segment ${segment}: csv`, get('/customers.csv', { segment, 'fields[customers]': 'id' })),
    one(
      'field',
      `segment ${segment}: shown`,
      tool('list', { collectionName, segment, fields: ['id', 'tier', 'credit'] }),
    ),
  ]),
  ...(['Of gold', 'Large'] as const).flatMap((segment) => [
    one('row', `segment ${segment}: list`, tool('list', { collectionName: 'orders', segment, enableCount: true })),
    one(
      'row',
      `segment ${segment}: by customer`,
      tool('aggregate', {
        ...{ collectionName: 'orders', segment, measures: { n: { count: true }, s: { share: 'n' } } },
        groups: ['customer:name'],
      }),
    ),
    one(
      'row',
      `segment ${segment}: empty customers`,
      tool('aggregate', {
        ...{ collectionName: 'orders', segment, measures: { n: { count: true } } },
        ...{ groups: ['customer:name'], includeEmpty: true },
      }),
    ),
  ]),
  ...(
    [
      ['customers', 'gold customers', 'city', 'joined'],
      ['orders', 'gold sales', 'customer:name', 'placed'],
      ['items', 'sold', 'order:customer:name', 'order:placed'],
      ['staff', 'payroll', 'name', 'name'],
    ] as const
  ).flatMap(([name, metric, group, date]) => {
    const ask = (args: object) => tool('aggregate', { collectionName: name, measures: { m: { metric } }, ...args });
    const month = { field: date, bucket: 'Month' };
    return [
      one('row', `metric ${metric}`, ask({})),
      one('row', `metric ${metric}: group`, ask({ groups: [group] })),
      one(
        'row',
        `metric ${metric}: pages`,
        pages('aggregate', {
          ...{ collectionName: name, measures: { m: { metric } } },
          ...{ groups: ['id'], limit: 1 },
        }),
      ),
      one('row', `metric ${metric}: empty`, ask({ groups: [group], includeEmpty: true })),
      one(
        'row',
        `metric ${metric}: having`,
        ask({
          groups: [group],
          having: { measure: 'm', operator: 'GreaterThan', value: 1 },
        }),
      ),
      one('row', `metric ${metric}: share`, ask({ measures: { m: { share: { metric } } }, groups: [group] })),
      one(
        'row',
        `metric ${metric}: running`,
        ask({
          measures: { m: { metric }, r: { running: 'm' } },
          ...{ groups: [month], includeEmpty: true },
        }),
      ),
      one('row', `metric ${metric}: compare`, ask({ groups: [month], compare: { previous: 1 } })),
      one('row', `metric ${metric}: ratio`, ask({ measures: { r: { ratio: [{ metric }, { count: true }] } } })),
      one(
        'row',
        `metric ${metric}: top`,
        ask({ groups: [group], top: { n: 1 }, sort: [{ measure: 'm', ascending: false }] }),
      ),
      one(
        'row',
        `metric ${metric}: over`,
        ask({
          measures: { a: { avg: 'm' } },
          over: { groups: [group], measures: { m: { metric } } },
        }),
      ),
      one('row', `metric ${metric}: http`, post(`/stats/${name}`, { measures: { m: { metric } }, groups: [group] })),
    ];
  }),
];

const sorted = { collectionName, fields: ['id', 'name'], sort: [{ field: 'name' }], ...size };
const grouped = { collectionName, measures: count, groups: ['name'], sort: [{ group: 0 }], limit: 1 } as const;
const byHidden = { collectionName, fields: ['id'], sort: [{ field: 'credit' }], ...size };

/** Cursors of other users, and invented ones. */
const cursors: readonly Leak[] = [
  one('row', 'cursor of an insider: list', borrowed('list', sorted)),
  one('row', 'cursor of an insider: groups', borrowed('aggregate', grouped)),
  one('field', 'cursor of an insider: hidden sort', borrowed('list', byHidden)),
  one(
    'field',
    'cursor of an insider: hidden column',
    borrowed('list', {
      ...{ collectionName, fields: ['id', { name: 'x', expression: { plus: ['credit', 1] } }] },
      ...{ sort: [{ field: 'x' }], ...size },
    }),
  ),
  one('field', 'cursor of an insider: hidden group', borrowed('aggregate', { ...grouped, groups: ['tier'] })),
  one(
    'field',
    'cursor of an insider: hidden distinct',
    borrowed('list', {
      ...{ collectionName, fields: ['tier'], distinct: true, ...size },
    }),
  ),
  one('row', 'cursor of an insider: hidden collection', borrowed('list', { collectionName: 'staff', ...size })),
  one(
    'row',
    'cursor of an insider: related',
    borrowed('listRelated', {
      ...{ collectionName, relationName: 'orders', parentRecordId: '1', ...size },
    }),
  ),
  ...(['Quill', 'Ada', 'Rory', 'R'] as const).flatMap((name) =>
    [3, 5, 7].map((id) => one('row', `forged cursor ${name} ${id}`, forged('list', sorted, name, id))),
  ),
  ...[1, 2, 3, 4, 5].map((at) => one('row', `forged cursor of groups ${at}`, forged('aggregate', grouped, at))),
  ...(['joined', 'parent:name', 'city'] as const).map((field) =>
    one('row', `pages by ${field}`, pages('list', { ...sorted, sort: [{ field, ascending: false }] })),
  ),
];

export const leaks: readonly Leak[] = [
  ...[...hidden, ...beyond].flatMap(leaksOf),
  ...many.flatMap(leaksOfMany),
  ...[...byId, ...ofUnseen, ...toOne, ...whole, ...ofCode, ...cursors, ...writeLeaks],
];
