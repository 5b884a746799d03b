// Attempts that name a relation to many: its records, their number and their fields.
import { get, type Leak, pages, post, tool } from './leak.ts';

export interface Many {
  readonly about: Leak['about'];
  readonly collection: string;
  /** The relation, or relations joined by `:`. */
  readonly relation: string;
  /** A field of the records at its end. */
  readonly field: string;
  readonly guess: string | number;
  readonly isNumber?: boolean;
  /** The collection at its end. */
  readonly to: string;
  /** A record that has it. */
  readonly parent: number;
}

type Templates = Readonly<Record<string, Leak['run']>>;

const ofOne = (relation: string): boolean => !relation.includes(':');

function lists({ collection: collectionName, relation, field, guess, isNumber, parent }: Many): Templates {
  const where = { field, operator: 'Equal', value: guess };
  const path = `${relation}:${field}`;
  const list = (args: object) => tool('list', { collectionName, fields: ['id'], ...args });
  const squared = { expression: { times: [field, { times: [field, field] }] }, operator: 'GreaterThan', value: 1 };
  const column = (figure: object) => list({ fields: ['id', { name: 'x', ...figure }] });
  const sorted = (figure: object) =>
    pages('list', {
      ...{ collectionName, fields: ['id', { name: 'x', ...figure }] },
      ...{ sort: [{ field: 'x', ascending: false }], pagination: { size: 1 } },
    });
  const filtered = (figure: object, condition: object, more: object = {}) =>
    list({
      fields: ['id', { name: 'x', ...figure }, { name: 'n', count: relation }],
      ...{ filters: { field: 'x', ...condition }, enableCount: true, ...more },
    });
  const isEqual = { operator: 'Equal', value: guess };
  return {
    'filter on a count': filtered({ count: relation }, { operator: 'GreaterThan', value: 1 }),
    'filter on no count': filtered({ count: relation }, { operator: 'Equal', value: 0 }),
    'filter on a count where': filtered({ count: relation, where }, { operator: 'GreaterThan', value: 0 }),
    'filter on two counts': filtered({ count: relation, where }, { operator: 'LessThan', other: 'n' }),
    'filter on max': filtered({ max: path }, isEqual),
    'filter on no max': filtered({ max: path }, { operator: 'Missing' }),
    'filter on a figure by pages': pages('list', {
      ...{ collectionName, fields: ['id', { name: 'x', countDistinct: path }], pagination: { size: 1 } },
      filters: { aggregator: 'Not', conditions: [{ field: 'x', operator: 'Equal', value: 1 }] },
    }),
    ...(isNumber && {
      'filter on a sum': filtered({ sum: path }, { operator: 'GreaterThan', value: guess }),
      'filter on a sum and a count': filtered({ sum: path }, { operator: 'GreaterThan', other: { times: ['n', 100] } }),
      'filter on a product': filtered(
        { sum: { times: [path, { times: [path, path] }] } },
        { operator: 'GreaterThan', other: { times: ['x', { times: ['x', 'x'] }] } },
      ),
      'filter on an average': filtered({ avg: path }, { operator: 'LessThan', value: guess }),
      'filter on min': filtered({ min: path }, { operator: 'LessThan', other: 'n' }),
    }),
    some: list({ filters: { some: relation, where }, enableCount: true }),
    'some without where': list({ filters: { some: relation } }),
    none: list({ filters: { none: relation, where }, enableCount: true }),
    'none without where': list({ filters: { none: relation } }),
    every: list({ filters: { every: relation, where } }),
    'every not': list({ filters: { every: relation, where: { aggregator: 'Not', conditions: [where] } } }),
    'path Equal': list({ filters: { field: path, operator: 'Equal', value: guess } }),
    'path Present': list({ filters: { field: path, operator: 'Present' } }),
    'search in relations': list({ search: String(guess), shouldSearchInRelation: true }),
    ...(isNumber && {
      'some expression': list({ filters: { some: relation, where: squared } }),
      'every expression': list({ filters: { every: relation, where: squared } }),
    }),
    count: column({ count: relation }),
    'count where': column({ count: relation, where }),
    max: column({ max: path }),
    distinct: column({ countDistinct: path }),
    ...(isNumber && { sum: column({ sum: { times: [path, 2] } }), avg: column({ avg: path }) }),
    'sorted by count': sorted({ count: relation }),
    'sorted by max': sorted({ max: path }),
    'sorted by count where': sorted({ count: relation, where }),
    ...(ofOne(relation) && {
      related: tool('listRelated', {
        ...{ collectionName, relationName: relation, parentRecordId: String(parent) },
        ...{ fields: [field], enableCount: true },
      }),
      'related pages': pages('listRelated', {
        ...{ collectionName, relationName: relation, parentRecordId: String(parent) },
        ...{ fields: [field], sort: [{ field }], pagination: { size: 1 } },
      }),
      'related filter': tool('listRelated', {
        ...{ collectionName, relationName: relation, parentRecordId: String(parent) },
        ...{ fields: [field], filters: where, enableCount: true },
      }),
      'related search': tool('listRelated', {
        ...{ collectionName, relationName: relation, parentRecordId: String(parent) },
        ...{ search: String(guess), enableCount: true },
      }),
    }),
  };
}

function aggregates({ collection: collectionName, relation, field, guess, isNumber }: Many): Templates {
  const where = { field, operator: 'Equal', value: guess };
  const path = `${relation}:${field}`;
  const ask = (args: object) => tool('aggregate', { collectionName, measures: { n: { count: true } }, ...args });
  return {
    group: ask({ groups: [path] }),
    'group pages': pages('aggregate', {
      ...{ collectionName, measures: { n: { count: true } } },
      ...{ groups: [path], sort: [{ group: 0 }], limit: 1 },
    }),
    ...(isNumber && { ranges: ask({ groups: [{ field: path, ranges: [Number(guess), Number(guess) + 1] }] }) }),
    'include empty': ask({ groups: [path], includeEmpty: true, filters: { field: 'id', operator: 'Equal', value: 2 } }),
    'filter some': ask({ filters: { some: relation, where } }),
    'where some': ask({ measures: { n: { count: true, where: { some: relation, where } } } }),
    'where every': ask({ measures: { n: { count: true, where: { every: relation, where } } }, groups: ['id'] }),
    'share where none': ask({
      measures: { n: { count: true, where: { none: relation, where } }, s: { share: 'n' } },
      groups: ['id'],
    }),
    'ratio where': ask({
      measures: { r: { ratio: [{ count: true, where: { some: relation, where } }, { count: true }] } },
    }),
    running: ask({ measures: { n: { count: true }, r: { running: 'n' } }, groups: [path], sort: [{ group: 0 }] }),
    top: ask({ groups: ['id', path], top: { n: 1, per: [0] }, sort: [{ measure: 'n' }] }),
    having: ask({ groups: [path], having: { measure: 'n', operator: 'GreaterThan', value: 1 } }),
    over: ask({ measures: { m: { max: 'n' } }, over: { groups: [path], measures: { n: { count: true } } } }),
    'measure through it': ask({ measures: { m: { max: path } } }),
  };
}

function requests({ collection, relation, field, guess, parent, to }: Many): Templates {
  const where = { field, operator: 'Equal', value: guess };
  const at = `/${collection}`;
  const fields = { [`fields[${collection}]`]: 'id' };
  const related = `${at}/${parent}/relationships/${relation}`;
  return {
    filters: get(at, { ...fields, filters: JSON.stringify({ some: relation, where }) }),
    'filters count': get(`${at}/count`, { filters: JSON.stringify({ none: relation, where }) }),
    columns: get(at, { ...fields, columns: JSON.stringify([{ name: 'x', count: relation, where }]), sort: '-x' }),
    'columns filters': get(at, {
      ...fields,
      columns: JSON.stringify([{ name: 'x', count: relation, where }]),
      filters: JSON.stringify({ field: 'x', operator: 'GreaterThan', value: 0 }),
    }),
    'columns count': get(`${at}/count`, {
      columns: JSON.stringify([{ name: 'x', max: `${relation}:${field}` }]),
      filters: JSON.stringify({ ...where, field: 'x' }),
    }),
    search: get(at, { search: String(guess), searchExtended: '1' }),
    'figures by group': post(`/stats${at}`, { measures: { n: { count: true } }, groups: [`${relation}:${field}`] }),
    ...(ofOne(relation) && {
      related: get(related, { [`fields[${to}]`]: `id,${field}` }),
      'related count': get(`${related}/count`),
      'related csv': get(`${related}.csv`, { [`fields[${to}]`]: `id,${field}` }),
      'related filters': get(related, { filters: JSON.stringify(where) }),
      leaderboard: post(`/stats${at}`, {
        ...{ type: 'Leaderboard', aggregator: 'Count' },
        ...{ relationshipFieldName: relation, labelFieldName: 'id' },
      }),
      'leaderboard where': post(`/stats${at}`, {
        ...{ type: 'Leaderboard', aggregator: 'Count' },
        ...{ relationshipFieldName: relation, labelFieldName: 'id', filter: { some: relation, where } },
      }),
    }),
  };
}

export function leaksOfMany(many: Many): Leak[] {
  const named = { list: lists(many), aggregate: aggregates(many), http: requests(many) };
  return Object.entries(named).flatMap(([entry, templates]) =>
    Object.entries(templates).map(([name, run]) => ({
      id: `${many.about}: ${many.collection} ${many.relation} ${many.field}: ${entry} ${name}`,
      about: many.about,
      run,
    })),
  );
}
