// Types for the code in a folder that `portico cloud bootstrap` creates.
export type { AgentBuilder as Agent } from '../agent/agent.ts';
export type { CollectionCustomizer } from '../agent/customize/customizer.ts';
export type { SqlConnectionOptions } from '../agent/sources/sql/connection/address.ts';
export type { MongoConnectionParams, SqlConnectionParams } from './connections.ts';
