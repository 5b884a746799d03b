import { actionAnswer } from '../action-answer.ts';
import {
  type ActionArguments,
  actionNames,
  actionProperties,
  checkAction,
  readActionArguments,
  toRequest,
} from '../action-arguments.ts';
import { checkNames, type Given, readFlag, readIdempotencyKey } from '../arguments.ts';
import { withToolNames } from '../engine-names.ts';
import { showUploads, useUploads } from '../file-values.ts';
import { offers } from '../offers.ts';
import { collectionRights } from '../once.ts';
import { nameOf } from '../record-ids.ts';
import type { Tool, ToolCall } from '../tools.ts';

interface ExecuteArguments extends ActionArguments {
  readonly dryRun: boolean;
  readonly idempotencyKey: string | undefined;
}

export const executeAction: Tool<ExecuteArguments> = {
  name: 'executeAction',
  title: 'Execute an action',
  description: 'Run an action with the values that getActionForm asks for. dryRun only checks records and values.',
  scope: 'mcp:action',
  isOffered: offers.trigger,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  inputSchema: {
    type: 'object',
    properties: { ...actionProperties, dryRun: { type: 'boolean' }, idempotencyKey: { type: 'string' } },
    required: ['collectionName', 'actionName'],
  },
  parse(given: Given) {
    checkNames(given, [...actionNames, 'dryRun', 'idempotencyKey']);
    return {
      ...readActionArguments(given),
      dryRun: readFlag(given, 'dryRun'),
      idempotencyKey: readIdempotencyKey(given),
    };
  },
  subject: ({ collection, recordIds }) => ({ collection, ...(recordIds && { recordIds: recordIds.map(nameOf) }) }),
  writes: ({ dryRun }) => !dryRun,
  idempotency: {
    key: ({ idempotencyKey }) => idempotencyKey,
    rights: ({ collection, action }, call) => [
      call.access.canTrigger(collection, action),
      collectionRights(call, collection),
    ],
  },
  run: (args, call) => withToolNames({ collection: 'collectionName' }, () => run(args, call)),
};

async function run(args: ExecuteArguments, call: ToolCall): Promise<string> {
  const { access, engine, signal, progress, files } = call;
  const userId = access.caller.id;
  checkAction(call, args);
  const request = { ...toRequest(args), searches: args.searches };
  if (!args.dryRun) {
    const result = await useUploads(files, userId, args.values, (values) =>
      engine.actions.execute(access, { ...request, values }, { signal, ...(progress && { progress }) }),
    );
    return actionAnswer(result, call);
  }
  const values = await showUploads(files, userId, args.values);
  const { records } = await engine.actions.check(access, { ...request, values }, { signal });
  return JSON.stringify({
    dryRun: true,
    ...(records !== null && { records }),
    note: 'The action may be executed with these records and values. Nothing was run: what its code does is not known before.',
  });
}
