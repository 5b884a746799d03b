// What a folder of `portico cloud bootstrap` is typed with.
export type { Blueprint as Agent } from '../agent/agent.ts';
export type { CollectionCustomizer } from '../agent/customize/customizer.ts';
export type { SqlConnectionOptions } from '../agent/sources/sql/address.ts';
export type { MongoConnectionParams, SqlConnectionParams } from './connections.ts';
