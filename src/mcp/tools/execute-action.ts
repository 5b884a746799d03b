import { filesIn, isFormFile } from '../../agent/actions/form-file.ts';
import { describeEffects } from '../../agent/write/effects.ts';
import { freely, type Policy, strictestOf } from '../../core/caller.ts';
import { clipRecord } from '../approvals/preview.ts';
import { collectionRights } from '../idempotency.ts';
import {
  type ActionArguments,
  actionNames,
  actionProperties,
  checkAction,
  readActionArguments,
  toRequest,
} from '../input/action-arguments.ts';
import { checkNames, type Given, readFlag, readIdempotencyKey } from '../input/arguments.ts';
import { withToolNames } from '../input/engine-names.ts';
import { nameOf } from '../input/record-ids.ts';
import { actionAnswer } from '../results/action-result.ts';
import { withWritten } from '../results/write-result.ts';
import type { Foreseen, Tool, ToolCall } from '../tool.ts';
import { showUploads, uploadKeysIn, useUploads } from '../uploads/file-values.ts';
import { offers } from '../visibility/visibility.ts';

interface ExecuteArguments extends ActionArguments {
  readonly dryRun: boolean;
  readonly idempotencyKey: string | undefined;
}

export const executeAction: Tool<ExecuteArguments> = {
  name: 'executeAction',
  title: 'Execute an action',
  description: 'Run an action; getActionForm says which values to send. dryRun only checks.',
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
      call.access.triggerCondition(collection, action),
      collectionRights(call, collection),
    ],
  },
  approval: {
    concerns: (args, call) => policyOf(args, call).policy !== 'allow',
    uploads: ({ values }) => uploadKeysIn(values),
    foresee: (args, call) => withToolNames({ collection: 'collectionName' }, () => foresee(args, call)),
  },
  run: (args, call) => withToolNames({ collection: 'collectionName' }, () => run(args, call)),
};

/** The stricter policy of the role and the action's code. For an unknown action the later lookup throws the error. */
function policyOf({ collection, action }: ActionArguments, { access, engine }: ToolCall): Policy {
  if (!access.can('browse', collection)) return freely;
  const known = engine.actions.describe(access, collection).find(({ name }) => name === action);
  return known ? strictestOf(access.actionPolicy(collection, action), known.policy ?? freely) : freely;
}

async function foresee(args: ExecuteArguments, call: ToolCall): Promise<Foreseen> {
  const { access, engine, signal, files } = call;
  checkAction(call, args);
  const policy = policyOf(args, call);
  const sent = await showUploads(files, call.uploaderId ?? access.caller.id, args.values);
  const request = { ...toRequest(args), searches: args.searches, values: sent };
  const { records, values, found } = await engine.actions.foresee(access, request, { signal });
  const given = Object.entries(values);
  const shown = given.map(([name, value]) => [name, showFiles(value)]);
  const preview = { count: records, changes: [], values: clipRecord(Object.fromEntries(shown)) };
  const sentFiles = given.map(([name, value]) => [name, filesIn(value)] as const).filter(([, all]) => all.length > 0);
  return { policy, preview, files: new Map(sentFiles), found };
}

/** Replaces files by their name and type. */
function showFiles(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(showFiles);
  if (!isFormFile(value)) return value;
  const { content, ...rest } = value;
  return { ...rest, bytes: content.length };
}

async function run(args: ExecuteArguments, call: ToolCall): Promise<string> {
  const { access, engine, signal, progress, files, written = [] } = call;
  const userId = access.caller.id;
  checkAction(call, args);
  const request = { ...toRequest(args), searches: args.searches };
  if (!args.dryRun) {
    const result = await useUploads(files, userId, args.values, (values) =>
      engine.actions.execute(access, { ...request, values }, { signal, written, ...(progress && { progress }) }),
    );
    const said = await actionAnswer(result, call, args.collection);
    return withWritten(said, describeEffects(access, written, false), call.config.answerTokens);
  }
  const values = await showUploads(files, userId, args.values);
  const { records } = await engine.actions.check(access, { ...request, values }, { signal });
  return JSON.stringify({
    dryRun: true,
    ...(records !== null && { records }),
    note: 'The action may be executed with these records and values. Nothing was run: what its code does is not known before.',
  });
}
