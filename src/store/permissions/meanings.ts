// What administrators say about collections in the console (core/caller/meanings.ts): one row for each subject, for each
// environment. Every `Access` contains them, so a change raises the version of the permissions.

import {
  type FieldMeaning,
  findMeaningProblems,
  MAX_INTRODUCTION,
  type MeaningSubject,
  type StoredMeanings,
  type StoredMetric,
  type StoredSegment,
} from '../../core/caller/meanings.ts';
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import type { LogValue } from '../audit/log-types.ts';
import type { Database } from '../database/database.ts';
import type { Tables } from '../migrations/first-tables.ts';
import type { VersionRows } from '../versions.ts';
import { checkCollection } from './grants.ts';
import { type EnvironmentInfoReader, logChange } from './roles.ts';
import type { MeaningRow, Meanings } from './types.ts';

const TABLE = 'meanings';
const MAX_NAME = 191;

export const meaningTables: Tables = {
  [TABLE](table) {
    table.integer('environment_id').unsigned().notNullable().references('environments.id');
    table.string('kind', 20).notNullable();
    // Empty for the introduction, and the name also for a collection.
    table.string('collection', MAX_NAME).notNullable();
    table.string('name', MAX_NAME).notNullable();
    table.text('value', 'mediumtext').notNullable();
    table.primary(['environment_id', 'kind', 'collection', 'name']);
  },
};

export function createMeanings(
  { knex }: Database,
  versions: VersionRows,
  getEnvironment: EnvironmentInfoReader,
  clock: Pick<Clock, 'now'>,
): Meanings {
  return {
    async list() {
      const { environmentId } = await getEnvironment(knex);
      return knex(TABLE)
        .where({ environment_id: environmentId })
        .select<MeaningRow[]>('kind', 'collection', 'name', 'value');
    },
    async set(subject, value, { before, by }) {
      const [text, expected] = [writeValue(value), writeValue(before)];
      if (value !== null) checkValue(subject, value);
      return versions.change('permissions', async (trx) => {
        // The changes follow each other.
        await trx('versions').where({ name: 'permissions' }).forUpdate().first('number');
        const { environmentId } = await getEnvironment(trx);
        const key = { environment_id: environmentId, ...keyOf(subject) };
        const [found] = await trx(TABLE).where(key).select<{ value: string }[]>('value');
        if ((found?.value ?? null) !== expected) return false;
        if (text === expected) return true;
        if (found) await trx(TABLE).where(key).delete();
        if (text !== null) await trx(TABLE).insert({ ...key, value: text });
        await logChange(trx, {
          ...{ at: clock.now(), by },
          action: `meaning.${text === null ? 'delete' : found ? 'update' : 'add'}`,
          subject: describeSubject(subject),
          ...(before !== null && { before: logged(subject, before) }),
          ...(value !== null && { after: logged(subject, value) }),
        });
        return true;
      });
    },
  };
}

const writeValue = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));

const keyOf = (subject: MeaningSubject): Pick<MeaningRow, 'kind' | 'collection' | 'name'> => ({
  kind: subject.kind,
  collection: 'collection' in subject ? subject.collection : '',
  name: 'name' in subject ? subject.name : '',
});

const logged = (subject: MeaningSubject, value: unknown): LogValue => ({
  name: describeSubject(subject),
  details: { kind: subject.kind, value },
});

function describeSubject(subject: MeaningSubject): string {
  if (subject.kind === 'introduction') return 'introduction';
  return subject.kind === 'collection' ? subject.collection : `${subject.collection}.${subject.name}`;
}

function checkValue(subject: MeaningSubject, value: unknown): void {
  const refuse = (argument: string, problem: string) => fail('INVALID_ARGUMENT', { argument, problem });
  if (subject.kind === 'introduction') {
    const isFine = typeof value === 'string' && value.trim() !== '' && value.length <= MAX_INTRODUCTION;
    if (!isFine) refuse('introduction', `expected a text of at most ${MAX_INTRODUCTION} characters.`);
    return;
  }
  checkCollection(subject.collection);
  if ('name' in subject && subject.name.length > MAX_NAME)
    refuse('name', `expected a name of at most ${MAX_NAME} characters.`);
  if (typeof value !== 'object' || value === null) refuse(subject.kind, 'expected an object.');
  const isDefinition = subject.kind === 'metric' || subject.kind === 'segment';
  const parts = isDefinition
    ? { description: (value as StoredMetric | StoredSegment).description ?? '' }
    : (value as FieldMeaning);
  for (const [part, expected] of findMeaningProblems(subject.kind === 'field' ? 'field' : 'collection', parts))
    refuse(part, `expected ${expected}.`);
}

/** Rows of a newer version are left out. */
export function readMeanings(rows: readonly MeaningRow[]): StoredMeanings {
  interface Read {
    meaning?: FieldMeaning;
    readonly fields: Map<string, FieldMeaning>;
    readonly metrics: Map<string, StoredMetric>;
    readonly segments: Map<string, StoredSegment>;
  }
  const collections = new Map<string, Read>();
  let introduction: string | undefined;
  for (const { kind, collection, name, value } of rows) {
    const read: unknown = JSON.parse(value);
    const of: Read = collections.get(collection) ?? { fields: new Map(), metrics: new Map(), segments: new Map() };
    if (kind === 'introduction') introduction = read as string;
    else collections.set(collection, of);
    if (kind === 'collection') of.meaning = read as FieldMeaning;
    else if (kind === 'field') of.fields.set(name, read as FieldMeaning);
    else if (kind === 'metric') of.metrics.set(name, read as StoredMetric);
    else if (kind === 'segment') of.segments.set(name, read as StoredSegment);
  }
  return Object.freeze({ collections, ...(introduction !== undefined && { introduction }) });
}
