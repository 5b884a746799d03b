// Reads the questions of a folder: questions.csv with the columns id, database, question and gold_sql.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Question {
  readonly id: string;
  readonly database: string;
  readonly text: string;
  /** The id and a hash of the text, under which its calls are recorded. */
  readonly key: string;
  /** Alternatives: an answer is right if it has the rows of one of them. */
  readonly sql: readonly string[];
  /** Whether the text asks for an order. */
  readonly ordered: boolean;
}

const ORDER =
  /\b(?:order(?:ed)?|sort(?:ed)?|alphabetical(?:ly)?|ascending|descending|starting from)\b|\b(?:highest|best|most|lowest|worst|least) to (?:the )?(?:highest|best|most|lowest|worst|least)\b/i;

export function readQuestions(folder: string): Question[] {
  const [header = [], ...rows] = parseCsv(readFileSync(join(folder, 'questions.csv'), 'utf8'));
  const column = (row: readonly string[], name: string) => row[header.indexOf(name)] ?? '';
  return rows.map((row) => {
    const [id, text] = [column(row, 'id'), column(row, 'question')];
    const hash = createHash('sha256').update(text).digest('hex').slice(0, 8);
    const sql = alternatives(column(row, 'gold_sql'));
    return { id, text, sql, database: column(row, 'database'), key: `${id}:${hash}`, ordered: ORDER.test(text) };
  });
}

/** RFC 4180: quoted cells may contain commas, line breaks and doubled quotes. */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    row.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === ',') continue;
    if (row.length > 1 || row[0] !== '') rows.push(row);
    row = [];
  }
  return rows;
}

/** Statements separated by semicolons, each with every choice of the columns in its braces; `{}` repeats the choice. */
export function alternatives(gold: string): string[] {
  const statements = gold
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
  return [...new Set(statements)].flatMap((statement) => {
    const [braces, names] = /\{([^}]+)\}/.exec(statement) ?? [];
    if (braces === undefined || names === undefined) return [statement];
    return choices(names.split(',').map((name) => name.trim())).map((chosen) =>
      statement.replace(braces, chosen.join(', ')).replaceAll('{}', chosen.join(', ')),
    );
  });
}

/** Every choice of at least one name, the largest first. */
function choices(names: readonly string[]): string[][] {
  const all = names.reduce<string[][]>((found, name) => found.concat(found.map((chosen) => chosen.concat(name))), [[]]);
  return all.filter(({ length }) => length > 0).sort((one, other) => other.length - one.length);
}
