// Attempts that name one field: of the record, or behind relations to one. The field is hidden, or its value belongs to
// a row beyond the row scope.
import { get, http, type Leak, pages, post, tool } from './leak.ts';

export interface Place {
  readonly about: Leak['about'];
  readonly collection: string;
  /** The field or its path. */
  readonly field: string;
  readonly type: 'number' | 'text' | 'date';
  /** A value that is true of a row in world A. */
  readonly guess: string | number;
  /** A visible field of the same type. */
  readonly visible: string;
}

const leaf = (field: string, operator: string, value: unknown) => ({ field, operator, value });

type Templates = Readonly<Record<string, Leak['run']>>;

function lists({ collection, field, guess, type, visible }: Place): Templates {
  const collectionName = collection;
  const size = { pagination: { size: 1 } };
  const list = (args: object) => tool('list', { collectionName, ...args });
  const equal = leaf(field, 'Equal', guess);
  const from = leaf(field, { number: 'GreaterThan', text: 'StartsWith', date: 'Before' }[type], guess);
  const expressions = {
    number: { times: [{ times: [field, field] }, { times: [field, visible] }] },
    text: { coalesce: [field, { value: 'none' }] },
    date: { difference: [field, visible], unit: 'day' },
  };
  const overflowing = {
    ...{ expression: expressions[type], operator: type === 'text' ? 'Equal' : 'GreaterThan' },
    value: type === 'date' ? 1 : guess,
  };
  return {
    'filter Equal': list({ filters: equal, enableCount: true }),
    'filter from': list({ filters: from, fields: ['id'] }),
    'filter In': list({ filters: leaf(field, 'In', [guess]), fields: ['id'] }),
    'filter Missing': list({ filters: leaf(field, 'Missing', undefined), fields: ['id'] }),
    'filter Not': list({ filters: { aggregator: 'Not', conditions: [equal] }, enableCount: true }),
    'filter Or': list({ filters: { aggregator: 'Or', conditions: [leaf('id', 'Equal', 1), equal] }, fields: ['id'] }),
    'filter other': list({ filters: { field: visible, operator: 'NotEqual', other: field }, fields: ['id'] }),
    'filter expression': list({ filters: overflowing, fields: ['id'] }),
    'filter quotient': list({
      filters: { expression: { dividedBy: [1, { times: [field, field] }] }, operator: 'GreaterThan', value: 1 },
      fields: ['id'],
    }),
    'filter And': list({
      filters: { aggregator: 'And', conditions: [leaf(field, 'Present', undefined), overflowing] },
      enableCount: true,
    }),
    'filter Not expression': list({ filters: { aggregator: 'Not', conditions: [overflowing] }, enableCount: true }),
    'filter Like': list({ filters: leaf(field, 'Like', `${guess}\\`), fields: ['id'] }),
    fields: list({ fields: ['id', field] }),
    'sort pages': pages('list', { collectionName, fields: ['id'], sort: [{ field }], ...size }),
    'sort down': list({ fields: ['id'], sort: [{ field, ascending: false }] }),
    column: list({ fields: ['id', { name: 'x', expression: expressions[type] }] }),
    'column sorted': pages('list', {
      ...{ collectionName, fields: ['id', { name: 'x', expression: expressions[type] }] },
      ...{ sort: [{ field: 'x' }], ...size },
    }),
    'column filter': list({
      fields: ['id', { name: 'x', expression: expressions[type] }],
      ...{ filters: { ...overflowing, expression: undefined, field: 'x' }, enableCount: true },
    }),
    'column filter other': list({
      fields: ['id', { name: 'x', expression: { coalesce: [visible, visible] } }],
      ...{ filters: { field: 'x', operator: 'NotEqual', other: field }, enableCount: true },
    }),
    distinct: list({ fields: [field], distinct: true }),
    search: list({ search: String(guess), enableCount: true }),
    'search in relations': list({ search: String(guess), shouldSearchInRelation: true, enableCount: true }),
    'search a field': list({ search: `${field}:${guess}`, enableCount: true }),
    'search not': list({ search: `-${guess}`, shouldSearchInRelation: true, fields: ['id'] }),
    cells: list({ fields: ['id', visible], cells: { [field]: { from: 1 } } }),
    records: list({ format: 'records', filters: equal }),
    'misspelt name': list({ filters: leaf(`${field}x`, 'Equal', guess) }),
  };
}

function aggregates({ collection, field, guess, type, visible }: Place): Templates {
  const ask = (args: object) => tool('aggregate', { collectionName: collection, ...args });
  const count = { n: { count: true } };
  const highest = { m: { max: field } };
  const equal = leaf(field, 'Equal', guess);
  const groups = {
    number: { field, ranges: [0, Number(guess), Number(guess) + 1] },
    text: field,
    date: { field, bucket: 'Month' },
  };
  const more: Record<Place['type'], Templates> = {
    number: {
      sum: ask({ operation: 'sum', field }),
      median: ask({ measures: { m: { median: field } } }),
      percentile: ask({ measures: { m: { percentile: [field, 0.9] } } }),
      share: ask({ measures: { s: { sum: field }, p: { share: 's' } }, groups: ['id'] }),
      running: ask({ measures: { s: { sum: field }, r: { running: 's' } }, groups: ['id'], sort: [{ group: 0 }] }),
      ratio: ask({ measures: { r: { ratio: [{ sum: field }, { count: true }] } } }),
      'sum of an expression': ask({ measures: { s: { sum: { times: [field, visible] } } } }),
      'average having': ask({
        ...{ measures: { a: { avg: field } }, groups: ['id'] },
        having: { measure: 'a', operator: 'GreaterThan', value: guess },
      }),
    },
    text: { least: ask({ measures: { m: { min: field } }, groups: ['id'] }) },
    date: {
      part: ask({ measures: count, groups: [{ field, part: 'Weekday' }], includeEmpty: true }),
      compare: ask({ measures: count, groups: [{ field, bucket: 'Month' }], compare: { previous: 1 } }),
      'running dates': ask({
        measures: { n: { count: true }, r: { running: 'n' } },
        groups: [{ field, bucket: 'Year' }],
        includeEmpty: true,
      }),
      difference: ask({ measures: { d: { avg: { difference: [visible, field], unit: 'day' } } } }),
    },
  };
  return {
    ...more[type],
    highest: ask({ measures: highest }),
    'operation max': ask({ operation: 'max', field, groups: ['id'] }),
    'count of': ask({ measures: { n: { count: field } } }),
    distinct: ask({ measures: { n: { countDistinct: field } } }),
    where: ask({ measures: { n: { count: true, where: equal } } }),
    'share where': ask({ measures: { n: { count: true, where: equal }, s: { share: 'n' } }, groups: ['id'] }),
    filters: ask({ measures: count, filters: equal, groups: ['id'] }),
    'filters compare': ask({ measures: count, filters: { field: visible, operator: 'LessThan', other: field } }),
    'where expression': ask({
      measures: {
        n: { count: true, where: { expression: { coalesce: [field, field] }, operator: 'Equal', other: visible } },
      },
    }),
    group: ask({ measures: count, groups: [groups[type]] }),
    'group pages': pages('aggregate', { collectionName: collection, measures: count, groups: [field], limit: 1 }),
    'include empty': ask({
      measures: count,
      groups: [groups[type]],
      includeEmpty: true,
      filters: leaf('id', 'Equal', 1),
    }),
    having: ask({ measures: highest, groups: ['id'], having: { measure: 'm', operator: 'Equal', value: guess } }),
    'having where': ask({
      measures: { n: { count: true, where: equal } },
      groups: ['id'],
      having: { measure: 'n', operator: 'GreaterThan', value: 0 },
    }),
    sort: ask({ measures: highest, groups: ['id'], sort: [{ measure: 'm', ascending: false }] }),
    top: ask({
      ...{ measures: highest, groups: [field, 'id'], top: { n: 1, per: [0] } },
      sort: [{ measure: 'm', ascending: false }],
    }),
    over: ask({
      measures: { m: { max: 'n' } },
      over: { groups: [field], measures: { n: { count: true } } },
    }),
    'over groups': ask({
      ...{ measures: { n: { count: true } }, groups: ['m'] },
      over: { groups: ['id'], measures: highest },
    }),
    search: ask({ measures: count, search: String(guess), shouldSearchInRelation: true }),
  };
}

function requests({ collection, field, guess, type }: Place): Templates {
  const at = `/${collection}`;
  const dotted = field.replaceAll(':', '.');
  const fields = { [`fields[${collection}]`]: 'id' };
  const filters = JSON.stringify({ field, operator: 'equal', value: guess });
  const stats = (body: object) => post(`/stats${at}`, body);
  const filter = leaf(field, 'Equal', guess);
  return {
    filters: get(at, { ...fields, filters }),
    'filters count': get(`${at}/count`, { filters }),
    sort: get(at, { ...fields, sort: `-${dotted}` }),
    fields: get(at, { [`fields[${collection}]`]: `id,${field}` }),
    projection: http({ method: 'GET', path: at, headers: { 'service-projection': `id,${field}` } }),
    columns: get(at, {
      ...fields,
      columns: JSON.stringify([{ name: 'x', expression: { coalesce: [field, field] } }]),
    }),
    'fields of a relation': get(at, {
      [`fields[${collection}]`]: `id,${field.split(':')[0]}`,
      [`fields[${field.split(':')[0]}]`]: field.split(':').slice(1).join(':') || 'id',
    }),
    csv: get(`${at}.csv`, { [`fields[${collection}]`]: `id,${field}` }),
    'csv filters': get(`${at}.csv`, { ...fields, filters }),
    search: get(at, { ...fields, search: String(guess), searchExtended: '1' }),
    value: stats({ type: 'Value', aggregator: 'Count', filter }),
    highest: stats({ type: 'Value', aggregator: 'Max', aggregateFieldName: dotted }),
    objective: stats({ type: 'Objective', aggregator: 'Count', filter }),
    pie: stats({ type: 'Pie', aggregator: 'Count', groupByFieldName: dotted }),
    ...(type === 'date' && {
      line: stats({ type: 'Line', aggregator: 'Count', groupByFieldName: dotted, timeRange: 'Month' }),
    }),
    figures: stats({ measures: { m: { max: field }, n: { count: true, where: filter } }, groups: ['id'] }),
    'figures by group': stats({ measures: { n: { count: true } }, groups: [field], includeEmpty: true }),
  };
}

export function leaksOf(place: Place): Leak[] {
  const named = { list: lists(place), aggregate: aggregates(place), http: requests(place) };
  return Object.entries(named).flatMap(([entry, templates]) =>
    Object.entries(templates).map(([name, run]) => ({
      id: `${place.about}: ${place.collection} ${place.field}: ${entry} ${name}`,
      about: place.about,
      run,
    })),
  );
}
