// Calls a tool of a remote MCP server as the user of the run, with the user's account if the server requires sign-in. A
// confirmed call uses the arguments that were shown, even if the record has changed since.
import { AppError, fail, isAppError } from '../../core/errors.ts';
import type { StepOf } from '../definition/definition.ts';
import type { RemoteServers } from '../remote-mcp/remote-servers.ts';
import type { CallRequestData } from './input-request.ts';
import { type DoneResult, fillStepTemplates, type StepHandler } from './step.ts';

const DENIED_REASON =
  "it may change data without confirmation. Set the step's mode to confirm, or its allowChanges to true.";

/** Maximum length of a tool's error text, in characters. Only the user of the run can read it. */
const MAX_ERROR_LENGTH = 2000;

export function createMcpStep(remotes: Pick<RemoteServers, 'prepare'>): StepHandler<StepOf<'mcp'>> {
  return async (call) => {
    const { step, run, answered, signal } = call;
    const { server, tool } = step;
    const confirmed = answered?.asked.ask === 'call' ? answered.asked : undefined;
    const values = confirmed?.arguments ?? (await fillStepTemplates(call, step.arguments ?? {}));
    let prepared: Awaited<ReturnType<RemoteServers['prepare']>>;
    try {
      prepared = await remotes.prepare({ server, tool, values, userId: run.userId }, signal);
    } catch (thrown) {
      if (!isAppError(thrown, 'REMOTE_RECONNECT')) throw thrown;
      return { kind: 'wait', reason: 'reconnect', asked: { ask: 'reconnect', server } };
    }
    if (!confirmed) {
      const requestData: CallRequestData = { ask: 'call', server, tool, arguments: values };
      if ((step.mode ?? 'confirm') === 'confirm') return { kind: 'wait', reason: 'confirmation', asked: requestData };
      if (prepared.needsConfirmation) return { kind: 'wait', reason: 'approval', asked: requestData };
      if (prepared.canHarm && step.allowChanges !== true)
        fail('REMOTE_TOOL_NOT_ALLOWED', { server, tool, why: DENIED_REASON });
    }
    return {
      kind: 'change',
      action: 'callRemoteTool',
      async execute({ signal: stop }) {
        const { text, result, isError } = await prepared.execute(stop);
        const outcome = { server, tool, isError, characters: text.length, values: Object.keys(result).length };
        // Later steps use `{{steps.<id>.text}}`, and properties of the structured content such as
        // `{{steps.<id>.amount}}`.
        const done: DoneResult = { kind: 'done', outcome, data: { ...result, text, result } };
        if (!isError) return done;
        const fails = new AppError('REMOTE_TOOL_FAILED', { server, tool });
        if (step.onError !== undefined) return { ...done, fails, next: step.onError };
        const message = text.length > MAX_ERROR_LENGTH ? `${text.slice(0, MAX_ERROR_LENGTH)}…` : text;
        return { ...done, fails, data: { text: message } };
      },
    };
  };
}
