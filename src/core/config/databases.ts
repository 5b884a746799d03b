// The served databases: SERVICE_DATABASE_URL has one a line, each with an optional name before its address.
import { fail } from '../errors.ts';
import { maskUrl } from './masking.ts';

export interface ServedDatabase {
  /** Unique. Written before the address, otherwise the name of the database or file. */
  readonly name: string;
  readonly url: string;
  /** What the names of its collections start with: `crm.` if the name was written, otherwise ''. */
  readonly prefix: string;
}

const NAMED = /^([^:=]+)=(?=[a-z]+:)/i;
const NAME = /^[A-Za-z][\w-]{0,49}$/;

/** Accepts the text of the setting; an empty variable is not set. Throws a plain Error, without any part of an address. */
export function readDatabases(text: string): string {
  if (text !== '') parse(text);
  return text;
}

/** Throws CONFIGURATION for two databases of one name, and for a malformed name. */
export function databasesOf(text: string): readonly ServedDatabase[] {
  try {
    return parse(text);
  } catch (error) {
    return fail('CONFIGURATION', { problem: `SERVICE_DATABASE_URL: ${(error as Error).message}.` });
  }
}

/** For display: the addresses without user, password and query. */
export function maskDatabases(text: string): string {
  const lines = linesOf(text);
  return lines.map((line) => `${NAMED.exec(line)?.[0] ?? ''}${maskUrl(line.replace(NAMED, ''))}`).join(', ');
}

function parse(text: string): readonly ServedDatabase[] {
  const databases = linesOf(text).map((line): ServedDatabase => {
    const written = NAMED.exec(line)?.[1];
    const url = line.replace(NAMED, '');
    if (written !== undefined && !NAME.test(written))
      throw new Error(
        "expected a name of at most 50 letters, digits, '-' and '_' before the address, such as crm=postgres://host/crm",
      );
    return { name: written ?? nameIn(url), url, prefix: written === undefined ? '' : `${written}.` };
  });
  if (databases.length === 0) throw new Error('expected an address such as postgres://user:password@host/database');
  const names = databases.map(({ name }) => name.toLowerCase());
  const again = databases.find((_, at) => names.indexOf(names[at] as string) !== at);
  if (again)
    throw new Error(
      `two databases have the name '${again.name}'. Write another before the address of one: --database other=...; its collections are then named other.table`,
    );
  return databases;
}

/** A path of SQLite can contain spaces, so only line breaks separate. */
function linesOf(text: string): readonly string[] {
  const lines = text.split(/[\r\n]+/).map((line) => line.trim());
  return lines.filter((line) => line !== '');
}

/** The name of the database on its server, or of the file without its ending. */
function nameIn(url: string): string {
  const path = url.replace(/^[a-z]+:/i, '').replace(/[?#].*$/s, '');
  // Without a path the last segment is the host, with the user.
  const last = /^\/\/[^/]*$/.test(path) ? '' : (path.split(/[\\/]/).at(-1) ?? '');
  const name = last.replace(/(?<=.)\.[^.]*$/, '').replace(/[^\w-]+/g, '-');
  return name === '' ? 'database' : name.slice(0, 50);
}
