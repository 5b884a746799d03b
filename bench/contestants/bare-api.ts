// An Express application with handwritten routes: the same SQL and the same JSON:API
// document, built from objects and passed to Express. It performs no checks.
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { Resource as Layout } from '../../src/rest/records/projection.ts';
import { openDatabase } from './database.ts';
import { tellUsage } from './usage.ts';

export interface ApiWork {
  readonly path: string;
  readonly sql: string;
  readonly values: readonly unknown[];
  readonly layout: Layout;
  /** The page size, for which the statement reads one more row; absent for a single record. */
  readonly pageSize?: number;
}

type Row = readonly unknown[];
type Resource = Readonly<Record<string, unknown>>;

tellUsage();
const { databaseUrl, works } = JSON.parse(readFileSync(process.env.BENCH_WORKS!, 'utf8')) as {
  readonly databaseUrl: string;
  readonly works: readonly ApiWork[];
};
const database = openDatabase(databaseUrl);
const app = express();
app.disable('x-powered-by');
for (const work of works)
  app.get(work.path, async (_req, res) => {
    const rows = await database.read(work.sql, work.values);
    res.json(documentOf(work, work.pageSize === undefined ? rows : rows.slice(0, work.pageSize)));
  });

function documentOf({ layout, pageSize }: ApiWork, rows: readonly Row[]) {
  const included = new Map<string, Resource>();
  const data = rows.map((row) => resourceOf(layout, row, included));
  return {
    jsonapi: { version: '1.0' },
    data: pageSize === undefined ? data[0] : data,
    ...(included.size > 0 && { included: [...included.values()] }),
  };
}

function resourceOf(layout: Layout, row: Row, included: Map<string, Resource>): Resource {
  const { collection: type, names, slots, key, toOne, toMany } = layout;
  const id = String(row[key[0]!]);
  const attributes: Record<string, unknown> = {};
  for (let at = 0; at < names.length; at++) attributes[names[at]!] = row[slots[at]!];
  const relationships: Record<string, unknown> = {};
  for (const { name, resource } of toOne) {
    const other = row[resource.key[0]!];
    if (other === null) relationships[name] = { data: null };
    else {
      const place = `${resource.collection}/${other}`;
      if (!included.has(place)) included.set(place, resourceOf(resource, row, included));
      relationships[name] = { data: { type: resource.collection, id: String(other) } };
    }
  }
  for (const name of toMany)
    relationships[name] = { links: { related: { href: `/service/${type}/${id}/relationships/${name}` } } };
  return { type, id, attributes, ...(Object.keys(relationships).length > 0 && { relationships }) };
}

const server = app.listen(0, '127.0.0.1', () =>
  console.log(`listening http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
process.once('SIGTERM', () => process.exit(0));
