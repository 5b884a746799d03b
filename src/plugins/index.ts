// Plugins for collections: `collection.use(flattenColumn, { columnName: 'address' })`.
export type {
  FlattenColumnOptions,
  FlattenJsonColumnOptions,
  FlattenRelationOptions,
} from '../agent/customize/definitions.ts';
export { flattenColumn, flattenJsonColumn, flattenRelation } from '../agent/customize/flatten.ts';
