// The schema file that an agent reported at its last start, one for each environment. Readers such as the cloud command
// and test clients do not have to reach the agent.
import type { Clock } from '../core/clock.ts';
import { hashToken } from '../core/secret.ts';
import type { Database } from './database/database.ts';
import type { Tables } from './migrations/first-tables.ts';
import type { EnvironmentInfoReader } from './permissions/roles.ts';
import type { AgentSchemas } from './store.ts';

export const agentSchemaTables: Tables = {
  agent_schemas(table) {
    table.integer('environment_id').unsigned().primary().references('environments.id');
    table.string('hash', 43).notNullable();
    table.text('document', 'longtext').notNullable();
    table.bigInteger('received_at').notNullable();
  },
};

interface Row {
  readonly hash: string;
  readonly document: string;
  readonly received_at: number | string;
}

export function createAgentSchemas(
  database: Database,
  getEnvironment: EnvironmentInfoReader,
  clock: Clock,
): AgentSchemas {
  const { knex } = database;
  const find = async (...columns: readonly (keyof Row)[]): Promise<Row | undefined> => {
    const { environmentId } = await getEnvironment(knex);
    return knex('agent_schemas').where({ environment_id: environmentId }).first<Row | undefined>(columns);
  };
  return {
    async hash() {
      return (await find('hash'))?.hash;
    },
    async get() {
      const row = await find('hash', 'document', 'received_at');
      return row && { hash: row.hash, document: row.document, receivedAt: Number(row.received_at) };
    },
    async keep(document) {
      const { environmentId } = await getEnvironment(knex);
      const row = { hash: hashToken(document), document, received_at: clock.now() };
      await database.retry(() =>
        knex('agent_schemas')
          .insert({ environment_id: environmentId, ...row })
          .onConflict('environment_id')
          .merge(['hash', 'document', 'received_at']),
      );
    },
  };
}
