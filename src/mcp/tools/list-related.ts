import type { RecordId } from '../../agent/encode/record-id.ts';
import { fail } from '../../core/errors.ts';
import { checkNames, type JsonObject, readRequiredText } from '../input/arguments.ts';
import { withToolNames } from '../input/engine-names.ts';
import { formatId, readRecordId } from '../input/record-ids.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { toolVisibility } from '../visibility/visibility.ts';
import { type Listing, type ListingReads, listingNames, listingSchemas, readListing, runListing } from './listing.ts';

interface ListRelatedArguments extends Listing {
  readonly collection: string;
  readonly relation: string;
  readonly parent: RecordId;
}

export const listRelated: Tool<ListRelatedArguments> = {
  name: 'listRelated',
  title: 'List related records',
  description: 'Records of a to-many relation; the rest as in list.',
  scope: 'mcp:read',
  isVisible: toolVisibility.browseRelated,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  inputSchema: {
    type: 'object',
    properties: {
      collectionName: { type: 'string' },
      relationName: { type: 'string' },
      parentRecordId: { type: 'string' },
      ...listingSchemas,
    },
    required: ['collectionName', 'relationName', 'parentRecordId'],
  },
  parse,
  subject: ({ collection, parent }) => ({ collection, recordIds: [formatId(parent)] }),
  run,
};

function parse(input: JsonObject): ListRelatedArguments {
  checkNames(input, ['collectionName', 'relationName', 'parentRecordId', ...listingNames]);
  const collectionHint = 'send the name of a collection; describeCollection without a name lists them.';
  const relationHint = 'send the name of a to-many relation; describeCollection shows them as "many".';
  return {
    collection: readRequiredText(input, 'collectionName', collectionHint),
    relation: readRequiredText(input, 'relationName', relationHint),
    parent:
      readRecordId(input, 'parentRecordId') ??
      fail('INVALID_ARGUMENT', { argument: 'parentRecordId', problem: 'send the id of the record.' }),
    ...readListing(input),
  };
}

const toolNames = { collection: 'collectionName', relation: 'relationName', id: 'parentRecordId' };

function run(args: ListRelatedArguments, call: ToolCall): Promise<string> {
  const { access, engine } = call;
  const { collection, relation, parent: id } = args;
  const reads: ListingReads = {
    list: (request, options) => engine.listRelated(access, { ...request, collection, relation, id }, options),
    count: (request, options) => engine.countRelated(access, { ...request, collection, relation, id }, options),
  };
  return withToolNames(toolNames, () => runListing(args, call, reads));
}
