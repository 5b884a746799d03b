// Explains database errors that are not refused writes: how the caller, the database user or the operator can fix them.
// They are identified by SQLSTATE, error number or result code. Messages of databases contain values and are never
// shown.
import { AppError } from '../../../core/errors.ts';
import type { Dialect } from './codec.ts';

/** The properties of the drivers' errors that this project reads. */
export type DatabaseError = Error & {
  readonly code?: string;
  readonly errno?: number;
  readonly sqlState?: string;
  readonly sqlMessage?: string;
  readonly detail?: string;
  readonly hint?: string;
  readonly column?: string;
  readonly table?: string;
  readonly constraint?: string;
  readonly dataType?: string;
  /** PostgreSQL: the server function that raised the error, independent of the message language. */
  readonly routine?: string;
  /** Only of the WebAssembly SQLite driver. */
  readonly resultCode?: number;
};

const problems = {
  unfilled:
    'it reads a materialized view that was never populated. Ask the operator to run REFRESH MATERIALIZED VIEW on it.',
  denied: 'the database user of this server lacks a permission for this. Ask the operator to grant it.',
  changed:
    'its tables have just changed, and this server has not read them yet. Try again in a minute. If it still fails, ask the operator to run portico schema reload.',
  busy: 'another transaction holds a lock that this needs. Try again in a moment.',
  full: 'it is out of space, memory or another resource. Request less, or ask the operator.',
  damaged: 'it reports damaged data or a failing disk. Ask the operator; the log has its error.',
  expression:
    'an expression, such as one of a view, a generated column or a sum, has no result for some records (a division by zero, a number that is too large). Filter those records out, or leave the field out.',
  collations:
    'it compares texts of different collations. Compare each of the fields with a value instead, or leave the field out.',
  raised: 'a function or trigger of the database raised an error. Ask the operator; the log has its text.',
} as const;

type Problem = keyof typeof problems | 'stopped' | 'large';

/** Returns undefined for an unknown error, which is a bug of this server. */
export function explainFailure(error: unknown, dialect: Dialect): AppError | undefined {
  if (error instanceof AppError || !(error instanceof Error)) return undefined;
  const problem = problemReaders[dialect](error as DatabaseError);
  if (problem === undefined) return undefined;
  if (problem === 'stopped') return new AppError('TIMED_OUT', { seconds: null }, error);
  if (problem === 'large')
    return new AppError(
      'INVALID_ARGUMENT',
      {
        argument: 'filter',
        problem: 'it is too long or too deep for the database. Send shorter strings or fewer values.',
      },
      error,
    );
  return new AppError('DATABASE_FAILED', { problem: problems[problem] }, error);
}

const problemReaders: Readonly<Record<Dialect, (error: DatabaseError) => Problem | undefined>> = {
  sqlite,
  mysql,
  postgres,
};

const postgresStates: Readonly<Record<string, Problem>> = {
  '42501': 'denied',
  '42P01': 'changed',
  '42703': 'changed',
  '42883': 'changed',
  '42704': 'changed',
  '42804': 'changed',
  '3F000': 'changed',
  '40001': 'busy',
  '40P01': 'busy',
  '55P03': 'busy',
  '55006': 'busy',
  '57014': 'stopped',
  '21000': 'expression',
  '42P21': 'collations',
  '42P22': 'collations',
  '25006': 'denied',
};

const postgresClasses: Readonly<Record<string, Problem>> = {
  '22': 'expression',
  '38': 'raised',
  '39': 'raised',
  '53': 'full',
  '54': 'large',
  '58': 'damaged',
  P0: 'raised',
};

function postgres({ code = '', hint = '', routine }: DatabaseError): Problem | undefined {
  if (!/^[0-9A-Z]{5}$/.test(code)) return undefined;
  if (isRaised({ routine })) return 'raised';
  if (code === '55000' && /REFRESH MATERIALIZED VIEW/.test(hint)) return 'unfilled';
  if (code === '0A000' && routine === 'RevalidateCachedQuery') return 'changed';
  if (code === 'XX001' || code === 'XX002') return 'damaged';
  return postgresStates[code] ?? postgresClasses[code.slice(0, 2)];
}

/** RAISE in a PL/pgSQL function can use any SQLSTATE. */
export function isRaised({ routine }: { readonly routine?: string | undefined }): boolean {
  return routine === 'exec_stmt_raise' || routine === 'exec_stmt_assert';
}

const mysqlNumbers: Readonly<Record<number, Problem>> = {
  1142: 'denied',
  1143: 'denied',
  1227: 'denied',
  1370: 'denied',
  1449: 'denied',
  1290: 'denied',
  1792: 'denied',
  1054: 'changed',
  1146: 'changed',
  1305: 'changed',
  1356: 'changed',
  1615: 'changed',
  1020: 'busy',
  1099: 'busy',
  1205: 'busy',
  1206: 'busy',
  1213: 'busy',
  1614: 'busy',
  3101: 'busy',
  3572: 'busy',
  1317: 'stopped',
  1969: 'stopped',
  3024: 'stopped',
  5: 'full',
  1021: 'full',
  1037: 'full',
  1038: 'full',
  1041: 'full',
  1114: 'full',
  1226: 'full',
  1030: 'damaged',
  1034: 'damaged',
  1194: 'damaged',
  1195: 'damaged',
  1712: 'damaged',
  1153: 'large',
  1390: 'large',
  1436: 'large',
  1242: 'expression',
  1267: 'collations',
  1365: 'expression',
  1690: 'expression',
  3140: 'expression',
  3141: 'expression',
  4037: 'expression',
  4038: 'expression',
  1644: 'raised',
};

function mysql({ errno = 0, sqlState = '' }: DatabaseError): Problem | undefined {
  return (
    mysqlNumbers[errno] ?? (sqlState === '45000' ? 'raised' : sqlState.startsWith('22') ? 'expression' : undefined)
  );
}

const sqliteMessages: readonly (readonly [RegExp, Problem])[] = [
  [/^no such (table|column|view)|has no column named|^database schema has changed/, 'changed'],
  [/^integer overflow|^malformed JSON|^JSON path error|^bad JSON path/, 'expression'],
  [
    /pattern too complex|too big|Expression tree is too large|too many (SQL variables|terms)|parser stack overflow/,
    'large',
  ],
  [/is locked/, 'busy'],
  [/is full|out of memory/, 'full'],
  [/malformed|not a database|disk I\/O error/, 'damaged'],
  [/readonly database|access permission denied|unable to open/, 'denied'],
];

const sqliteCodes: readonly (readonly [RegExp, Problem])[] = [
  [/^SQLITE_(BUSY|LOCKED|PROTOCOL)/, 'busy'],
  [/^SQLITE_(FULL|NOMEM)/, 'full'],
  [/^SQLITE_(CORRUPT|NOTADB|IOERR)/, 'damaged'],
  [/^SQLITE_TOOBIG/, 'large'],
  [/^SQLITE_SCHEMA/, 'changed'],
  [/^SQLITE_(READONLY|PERM|AUTH|CANTOPEN)/, 'denied'],
];

/** The native driver reports result codes. The WebAssembly one mostly reports SQLITE_ERROR with SQLite's message. */
function sqlite({ code = '', message }: DatabaseError): Problem | undefined {
  const [, problem] =
    sqliteCodes.find(([pattern]) => pattern.test(code)) ??
    sqliteMessages.find(([pattern]) => pattern.test(message)) ??
    [];
  return problem;
}
