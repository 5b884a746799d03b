// Calls a tool of a remote MCP server as the user of the run, with the user's account if the server requires sign-in. A
// confirmed call uses the arguments that were shown, even if the record has changed since.
import { AppError, fail, isAppError } from '../../core/errors.ts';
import type { StepOf } from '../definition/definition.ts';
import type { RemoteRoom } from '../remote-mcp/remote-servers.ts';
import type { AskedCall } from './input-request.ts';
import { type Done, fill, type StepHandler } from './step.ts';

const why =
  "it may change something, and nobody would be asked. Set the step's mode to confirm, or its allowChanges to true.";

/** Maximum length of a tool's error text, in characters. Only the user of the run can read it. */
const SAID_MOST = 2000;

export function createMcpStep(remotes: Pick<RemoteRoom, 'prepare'>): StepHandler<StepOf<'mcp'>> {
  return async (call) => {
    const { step, run, answered, signal } = call;
    const { server, tool } = step;
    const confirmed = answered?.asked.ask === 'call' ? answered.asked : undefined;
    const values = confirmed?.arguments ?? (await fill(call, step.arguments ?? {}));
    let prepared: Awaited<ReturnType<RemoteRoom['prepare']>>;
    try {
      prepared = await remotes.prepare({ server, tool, values, userId: run.userId }, signal);
    } catch (thrown) {
      if (!isAppError(thrown, 'REMOTE_RECONNECT')) throw thrown;
      return { kind: 'wait', reason: 'reconnect', asked: { ask: 'reconnect', server } };
    }
    if (!confirmed) {
      const asked: AskedCall = { ask: 'call', server, tool, arguments: values };
      if ((step.mode ?? 'confirm') === 'confirm') return { kind: 'wait', reason: 'confirmation', asked };
      if (prepared.asksPerson) return { kind: 'wait', reason: 'approval', asked };
      if (prepared.mayHarm && step.allowChanges !== true) fail('REMOTE_TOOL_NOT_ALLOWED', { server, tool, why });
    }
    return {
      kind: 'change',
      action: 'callRemoteTool',
      async make({ signal: stop }) {
        const { text, result, isError } = await prepared.make(stop);
        const outcome = { server, tool, isError, characters: text.length, values: Object.keys(result).length };
        // Later steps use `{{steps.<id>.text}}`, and properties of the structured content such as
        // `{{steps.<id>.amount}}`.
        const done: Done = { kind: 'done', outcome, data: { ...result, text, result } };
        if (!isError) return done;
        const fails = new AppError('REMOTE_TOOL_FAILED', { server, tool });
        if (step.onError !== undefined) return { ...done, fails, next: step.onError };
        const said = text.length > SAID_MOST ? `${text.slice(0, SAID_MOST)}…` : text;
        return { ...done, fails, data: { text: said } };
      },
    };
  };
}
