// The files that an agent writes to the repository of the host: the schema and the typings. Each is replaced atomically
// and only if its text changes, which keeps file watchers and diffs quiet.
import { lstatSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ActionDescription } from '../../agent/actions/catalogue.ts';
import { compareSchemas } from '../../agent/artifacts/schema-diff.ts';
import { createSchema, printSchema, type SchemaAction, type SchemaFile } from '../../agent/artifacts/schema-file.ts';
import { createTypings } from '../../agent/artifacts/typings.ts';
import type { OpenedEngine } from '../../agent/live-engine.ts';
import type { Model } from '../../agent/model/types.ts';
import { type Caller, fullAccess } from '../../core/caller.ts';
import { AppError, fail } from '../../core/errors.ts';
import type { Observe } from '../../core/observe.ts';
import { randomId } from '../../core/secret.ts';
import { type KeyOf, toWireForm } from '../../rest/actions/form.ts';
import { findJsonFault } from './json-fault.ts';
import type { CheckedOptions } from './options.ts';

type TypingsOptions = Pick<CheckedOptions, 'typingsMaxDepth'> & { readonly typingsPath: string };
export type SchemaFileOptions = Pick<
  CheckedOptions,
  'isProduction' | 'schemaPath' | 'typingsPath' | 'typingsMaxDepth'
> & { readonly prefix: string; readonly version: string };

/**
 * Runs at a start and writes both files. In production, it only reads the schema file and warns if it differs from the
 * served schema. Returns the text of the served schema. `cause`: for tables that changed during production, a
 * difference throws CONFIGURATION, because the file was reviewed and the change was not.
 */
export function syncSchemaFiles(
  opened: OpenedEngine,
  options: SchemaFileOptions,
  observe: Observe,
  cause: 'start' | 'request' | 'watch' = 'start',
): string {
  const text = printSchema(schemaOf(opened, options));
  if (options.isProduction) {
    const difference = compareSchema(text, options);
    if (difference === undefined) return text;
    if (cause === 'watch')
      fail('CONFIGURATION', { problem: `isProduction: ${difference} Then call restart(), or start it again.` });
    observe({ type: 'warning', message: difference });
    return text;
  }
  replaceFile('schemaPath', options.schemaPath, text);
  const { typingsPath, typingsMaxDepth } = options;
  if (typingsPath !== null) writeTypings(opened.model, { typingsPath, typingsMaxDepth }, observe);
  return text;
}

export function writeSchema(opened: OpenedEngine, options: SchemaFileOptions): void {
  replaceFile('schemaPath', options.schemaPath, printSchema(schemaOf(opened, options)));
}

export function writeTypings(model: Model, { typingsPath, typingsMaxDepth }: TypingsOptions, observe: Observe): void {
  const { text, cut } = createTypings(model, typingsMaxDepth);
  for (const [collection, depth] of cut)
    observe({
      type: 'warning',
      message: `Typings: paths of '${collection}' follow ${depth} relation${depth === 1 ? '' : 's'} instead of ${typingsMaxDepth}, to limit their number.`,
    });
  replaceFile('typingsPath', typingsPath, text);
}

// The schema lists every collection regardless of permissions. Only code that prints the schema uses this access.
const fullRights = fullAccess({} as Caller);

function schemaOf({ engine, model }: OpenedEngine, { prefix, version }: SchemaFileOptions): SchemaFile {
  const keyOf: KeyOf = (name) =>
    model.collections.get(name)?.key.map((column) => ({ name: column.name, type: String(column.type) })) ?? [];
  const actionsOf = (collection: string) =>
    engine.actions.describe(fullRights, collection).map((action) => schemaAction(action, keyOf));
  return createSchema(model, { prefix, version, engineVersion: process.versions.node, actionsOf });
}

/** The schema file includes forms that never change, with their values as defaults. Clients load the other forms. */
function schemaAction({ fields, layout, ...action }: ActionDescription, keyOf: KeyOf): SchemaAction {
  if (!fields) return action;
  const form = toWireForm({ fields, ...(layout && { layout }) }, keyOf);
  return {
    ...action,
    fields: form.fields.map(({ value, ...field }) => ({ ...field, defaultValue: value })),
    ...(form.layout.length > 0 && { layout: form.layout }),
  };
}

/**
 * Differences between the schema file and the served schema, one line each. Throws CONFIGURATION if the file is missing
 * or not a schema file.
 */
export function findSchemaDifferences(opened: OpenedEngine, options: SchemaFileOptions): readonly string[] {
  const now = JSON.parse(printSchema(schemaOf(opened, options))) as SchemaFile;
  return compareSchemas(readSchema(options.schemaPath, ''), now).map(({ line }) => line);
}

/** What differs, and the remedy. Throws CONFIGURATION if the file is missing or not a schema file. */
function compareSchema(text: string, options: SchemaFileOptions): string | undefined {
  const found = compareSchemas(readSchema(options.schemaPath, 'isProduction: '), JSON.parse(text) as SchemaFile);
  const different = [...new Set(found.map(({ collection }) => collection))];
  if (different.length === 0) return undefined;
  const shown = different.slice(0, 5).join(', ') + (different.length > 5 ? ` and ${different.length - 5} more` : '');
  return `The schema file ${options.schemaPath} differs from the served schema in: ${shown}. Update it with generateSchemaOnly, or with a start outside production.`;
}

/** `what`: prefix of the error message that names the option. */
function readSchema(path: string, what: string): SchemaFile {
  const remedy = 'write it with generateSchemaOnly, or with a start outside production, and deploy it';
  let text: string;
  try {
    if (!statSync(path).isFile()) throw new Error('It is not a file.');
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const problem = `${what}the schema file ${path} cannot be read; ${remedy}.`;
    throw new AppError('CONFIGURATION', { problem }, cause);
  }
  let schema: SchemaFile;
  try {
    schema = JSON.parse(text) as SchemaFile;
  } catch (cause) {
    const { line, column } = findJsonFault(text);
    const problem = `${what}the schema file ${path} is not valid JSON at line ${line}, column ${column}; ${remedy}.`;
    throw new AppError('CONFIGURATION', { problem }, cause);
  }
  const isOurs =
    Array.isArray(schema?.collections) &&
    schema.collections.every((each) => typeof each?.name === 'string' && Array.isArray(each.fields));
  if (isOurs) return schema;
  return fail('CONFIGURATION', { problem: `${what}the file ${path} is not a schema file; ${remedy}.` });
}

/**
 * Atomic: writes the text to a temporary file in the same folder, then renames it. Keeps symbolic links, and writes
 * directly to devices such as /dev/null. Throws CONFIGURATION if writing fails, or if the path is neither a file nor a
 * device, because opening a pipe can block forever.
 */
function replaceFile(option: string, path: string, text: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found && !found.isFile() && !found.isCharacterDevice())
    fail('CONFIGURATION', { problem: `${option}: ${path} is not a file. Set the path of a file.` });
  if (found?.isFile() && textOf(path) === text) return;
  let temporaryFile: string | undefined;
  try {
    // A dangling link is resolved by the write itself.
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
    if (found ? !found.isFile() : isLink) {
      writeFileSync(path, text);
      return;
    }
    const target = found ? realpathSync(path) : path;
    temporaryFile = join(dirname(target), `.${randomId()}.tmp`);
    writeFileSync(temporaryFile, text);
    renameSync(temporaryFile, target);
  } catch (cause) {
    if (temporaryFile !== undefined) rmSync(temporaryFile, { force: true });
    const problem = `${option}: ${path} cannot be written. Set another path, or change its write permissions.`;
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
