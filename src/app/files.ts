// The files that an agent keeps in the host's repository: the schema and the typings. They are replaced as a whole, and
// only when their text changes, so that a watcher or a diff sees changes alone.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Opened } from '../agent/agent.ts';
import type { Model } from '../agent/model/types.ts';
import { createSchema, printSchema, type SchemaFile } from '../agent/schema-file.ts';
import { createTypings } from '../agent/typings.ts';
import { type Caller, fullAccess } from '../core/caller.ts';
import { AppError, fail } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { randomId } from '../core/secret.ts';
import type { CheckedOptions } from './options.ts';

export type TypingsOptions = Pick<CheckedOptions, 'typingsMaxDepth'> & { readonly typingsPath: string };
export type SchemaFileOptions = Pick<
  CheckedOptions,
  'isProduction' | 'prefix' | 'schemaPath' | 'typingsPath' | 'typingsMaxDepth'
> & { readonly version: string };

/** At a start: writes both; in production reads the schema file alone, and warns when it tells of something else. */
export function keepSchemaFiles(opened: Opened, options: SchemaFileOptions, observe: Observe): void {
  if (options.isProduction) {
    compareSchema(opened, options, observe);
    return;
  }
  writeSchema(opened, options);
  const { typingsPath, typingsMaxDepth } = options;
  if (typingsPath !== null) writeTypings(opened.model, { typingsPath, typingsMaxDepth }, observe);
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

/** CONFIGURATION when the file is not there or is none of ours. */
function compareSchema(opened: Opened, options: SchemaFileOptions, observe: Observe): void {
  const known = readSchema(options.schemaPath);
  const now = JSON.parse(printSchema(schemaOf(opened, options))) as SchemaFile;
  const texts = (schema: SchemaFile) => new Map(schema.collections.map((each) => [each.name, JSON.stringify(each)]));
  const [before, after] = [texts(known), texts(now)];
  const different = [...new Set([...before.keys(), ...after.keys()])].filter(
    (name) => before.get(name) !== after.get(name),
  );
  if (different.length === 0) return;
  const shown = different.slice(0, 5).join(', ') + (different.length > 5 ? ` and ${different.length - 5} more` : '');
  observe({
    type: 'warning',
    message: `The schema file ${options.schemaPath} is not what is served, in: ${shown}. Write it anew with generateSchemaOnly, or with a start that is not in production.`,
  });
}

function readSchema(path: string): SchemaFile {
  const cure = 'write it with generateSchemaOnly, or with a start that is not in production, and deploy it';
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const problem = `isProduction: the schema file ${path} cannot be read; ${cure}.`;
    throw new AppError('CONFIGURATION', { problem }, cause);
  }
  try {
    const schema = JSON.parse(text) as SchemaFile;
    if (Array.isArray(schema?.collections)) return schema;
  } catch {
    // Said below.
  }
  return fail('CONFIGURATION', { problem: `isProduction: the file ${path} is no schema file; ${cure}.` });
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
