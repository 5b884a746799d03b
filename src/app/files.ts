// The files that an agent keeps in the host's repository: the schema and the typings. They are replaced as a whole, and
// only when their text changes, so that a watcher or a diff sees changes alone.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Opened } from '../agent/agent.ts';
import type { Model } from '../agent/model/types.ts';
import { compareSchemas } from '../agent/schema-difference.ts';
import { createSchema, printSchema, type SchemaFile } from '../agent/schema-file.ts';
import { createTypings } from '../agent/typings.ts';
import { type Caller, fullAccess } from '../core/caller.ts';
import { AppError, fail } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { randomId } from '../core/secret.ts';
import { findJsonFault } from './json-fault.ts';
import type { CheckedOptions } from './options.ts';

export type TypingsOptions = Pick<CheckedOptions, 'typingsMaxDepth'> & { readonly typingsPath: string };
export type SchemaFileOptions = Pick<
  CheckedOptions,
  'isProduction' | 'prefix' | 'schemaPath' | 'typingsPath' | 'typingsMaxDepth'
> & { readonly version: string };

/**
 * At a start: writes both; in production reads the schema file alone, and warns when it tells of something else. Answers the
 * text of the schema as it is served.
 */
export function keepSchemaFiles(opened: Opened, options: SchemaFileOptions, observe: Observe): string {
  const text = printSchema(schemaOf(opened, options));
  if (options.isProduction) {
    compareSchema(text, options, observe);
    return text;
  }
  replaceFile('schemaPath', options.schemaPath, text);
  const { typingsPath, typingsMaxDepth } = options;
  if (typingsPath !== null) writeTypings(opened.model, { typingsPath, typingsMaxDepth }, observe);
  return text;
}

export function writeSchema(opened: Opened, options: SchemaFileOptions): void {
  replaceFile('schemaPath', options.schemaPath, printSchema(schemaOf(opened, options)));
}

export function writeTypings(model: Model, { typingsPath, typingsMaxDepth }: TypingsOptions, observe: Observe): void {
  const { text, cut } = createTypings(model, typingsMaxDepth);
  for (const [collection, depth] of cut)
    observe({
      type: 'warning',
      message: `Typings: paths of '${collection}' follow ${depth} relation${depth === 1 ? '' : 's'} instead of ${typingsMaxDepth}, since there would be too many.`,
    });
  replaceFile('typingsPath', typingsPath, text);
}

// The schema tells of every collection, whoever may see it; nobody calls with this.
const everything = fullAccess({} as Caller);

function schemaOf({ engine, model }: Opened, { prefix, version }: SchemaFileOptions): SchemaFile {
  const actionsOf = (collection: string) => engine.actions.describe(everything, collection);
  return createSchema(model, { prefix, version, engineVersion: process.versions.node, actionsOf });
}

/** What the schema file says otherwise than what is served, a line each. CONFIGURATION when it is not there or none of ours. */
export function findSchemaDifferences(opened: Opened, options: SchemaFileOptions): readonly string[] {
  const now = JSON.parse(printSchema(schemaOf(opened, options))) as SchemaFile;
  return compareSchemas(readSchema(options.schemaPath, ''), now).map(({ line }) => line);
}

/** CONFIGURATION when the file is not there or is none of ours. */
function compareSchema(text: string, options: SchemaFileOptions, observe: Observe): void {
  const found = compareSchemas(readSchema(options.schemaPath, 'isProduction: '), JSON.parse(text) as SchemaFile);
  const different = [...new Set(found.map(({ collection }) => collection))];
  if (different.length === 0) return;
  const shown = different.slice(0, 5).join(', ') + (different.length > 5 ? ` and ${different.length - 5} more` : '');
  observe({
    type: 'warning',
    message: `The schema file ${options.schemaPath} is not what is served, in: ${shown}. Write it anew with generateSchemaOnly, or with a start that is not in production.`,
  });
}

/** `what`: before the problem, whose rule it is. */
function readSchema(path: string, what: string): SchemaFile {
  const cure = 'write it with generateSchemaOnly, or with a start that is not in production, and deploy it';
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const problem = `${what}the schema file ${path} cannot be read; ${cure}.`;
    throw new AppError('CONFIGURATION', { problem }, cause);
  }
  let schema: SchemaFile;
  try {
    schema = JSON.parse(text) as SchemaFile;
  } catch (cause) {
    const { line, column } = findJsonFault(text);
    const problem = `${what}the schema file ${path} is no JSON, from line ${line}, column ${column} on; ${cure}.`;
    throw new AppError('CONFIGURATION', { problem }, cause);
  }
  const isOurs =
    Array.isArray(schema?.collections) &&
    schema.collections.every((each) => typeof each?.name === 'string' && Array.isArray(each.fields));
  if (isOurs) return schema;
  return fail('CONFIGURATION', { problem: `${what}the file ${path} is no schema file; ${cure}.` });
}

/** All or nothing: the text is written beside the file, which is then replaced. CONFIGURATION when it cannot be. */
function replaceFile(option: string, path: string, text: string): void {
  if (textOf(path) === text) return;
  const beside = join(dirname(path), `.${randomId()}.tmp`);
  try {
    writeFileSync(beside, text);
    renameSync(beside, path);
  } catch (cause) {
    rmSync(beside, { force: true });
    const problem = `${option}: ${path} cannot be written. Choose another path, or change who may write there.`;
    throw new AppError('CONFIGURATION', { problem }, cause);
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
