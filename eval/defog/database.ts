// A PostgreSQL database for one question set, and the rows that its SQL returns.
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { type Expected, exact, type Tolerance } from './compare.ts';

export interface Database {
  readonly url: string;
  ask(sql: string): Promise<Expected>;
  drop(): Promise<void>;
}

// Numbers instead of texts of digits, and dates as PostgreSQL prints them.
const { builtins } = pg.types;
const numbers: readonly number[] = [builtins.INT8, builtins.NUMERIC, builtins.FLOAT4, builtins.FLOAT8];
const dates: readonly number[] = [builtins.DATE, builtins.TIMESTAMP, builtins.TIMESTAMPTZ, builtins.INTERVAL];
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text') => {
    if (numbers.includes(oid)) return Number;
    return dates.includes(oid) ? (text: string) => text : pg.types.getTypeParser(oid, format);
  }) as typeof pg.types.getTypeParser,
};

/** Creates the database on the server and runs the script in it. */
export async function openDatabase(server: string, script: string): Promise<Database> {
  const name = `portico_eval_${process.pid}_${Date.now().toString(36)}`;
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const client = new pg.Client({ connectionString: url.href, types });
  const drop = async () => {
    await client.end();
    await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await admin.end();
  };
  try {
    await client.connect();
    await client.query(`SET TimeZone = 'UTC'; ${readFileSync(script, 'utf8')}`);
  } catch (error) {
    await drop();
    throw error;
  }
  const { rows: single } = await client.query<{ name: string }>(
    "SELECT DISTINCT column_name AS name FROM information_schema.columns WHERE table_schema = 'public' AND data_type = 'real'",
  );
  const names = single.map(({ name }) => name);
  const ask = async (sql: string) => ({ ...(await readExpected(client, sql)), tolerance: toleranceOf(sql, names) });
  return { url: url.href, ask, drop };
}

/** PostgreSQL averages a `real` column with the error of its 24 bits. ROUND gives the decimals of the answer. */
function toleranceOf(sql: string, singleColumns: readonly string[]): Tolerance {
  const decimals = /\bROUND\(.*,\s*(\d+)\)/i.exec(sql)?.[1];
  const isSingle = singleColumns.some((name) => new RegExp(`\\b${name}\\b`, 'i').test(sql));
  return {
    relative: isSingle ? 2 ** -23 : exact.relative,
    absolute: decimals === undefined ? exact.absolute : 0.5 * 10 ** -Number(decimals),
  };
}

/** Reads all rows, also those after the LIMIT, with the values by which they are sorted. */
async function readExpected(client: pg.Client, sql: string): Promise<Expected> {
  const { body, terms, limit } = splitStatement(sql);
  const read = async (text: string) => {
    const { rows, fields } = await client.query<unknown[]>({ text, rowMode: 'array' });
    return { rows, names: fields.map(({ name }) => name.toLowerCase()) };
  };
  if (terms.length === 0) return { rows: (await read(sql)).rows };
  const order = ` ORDER BY ${terms.join(', ')}`;
  const { rows, names } = await read(body + order);
  const shown = terms.map((term) => names.indexOf(term.replace(/ .*/s, '').split('.').at(-1)!.toLowerCase()));
  const hidden = terms.filter((_, at) => shown[at]! < 0).map((term) => term.replace(/\s(ASC|DESC|NULLS)\b.*/is, ''));
  const cut = depthZero(body, /\bFROM\b/gi)[0]!;
  const withKeys =
    hidden.length === 0
      ? rows
      : (await read(`${body.slice(0, cut)}, ${hidden.join(', ')} ${body.slice(cut)}${order}`)).rows;
  const width = names.length;
  let next = width;
  const columns = shown.map((column) => (column < 0 ? next++ : column));
  const keys = withKeys.map((row) => columns.map((column) => row[column]));
  return { rows: withKeys.map((row) => row.slice(0, width)), keys, ...(limit !== undefined && { limit }) };
}

/** Splits off the ORDER BY and the LIMIT of the outermost SELECT. */
export function splitStatement(sql: string): { body: string; terms: string[]; limit: number | undefined } {
  const order = depthZero(sql, /\bORDER BY\b/gi).at(-1);
  if (order === undefined) return { body: sql, terms: [], limit: undefined };
  const [, tail = '', limit] = /^ORDER BY\s+(.*?)(?:\s+LIMIT\s+(\d+))?$/is.exec(sql.slice(order).trim()) ?? [];
  const commas = depthZero(tail, /,/g);
  const terms = [...commas, tail.length].map((end, at) => tail.slice(at === 0 ? 0 : commas[at - 1]! + 1, end).trim());
  return { body: sql.slice(0, order), terms, limit: limit === undefined ? undefined : Number(limit) };
}

/** Where the pattern occurs outside of parentheses and quoted texts. */
function depthZero(sql: string, pattern: RegExp): number[] {
  const depths: number[] = [];
  let depth = 0;
  let isQuoted = false;
  for (const character of sql.split('')) {
    if (character === "'") isQuoted = !isQuoted;
    if (!isQuoted && character === '(') depth++;
    if (!isQuoted && character === ')') depth--;
    depths.push(isQuoted ? 1 : depth);
  }
  return [...sql.matchAll(pattern)].map(({ index }) => index).filter((index) => depths[index] === 0);
}
