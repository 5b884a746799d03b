// Calls a tool of a remote MCP server, as the user of the run: with his account where the server has people sign in. What a person
// was shown is what is called, whatever the record holds by then.
import { isAppError } from '../../core/errors.ts';
import type { StepOf } from '../definition.ts';
import type { RemoteRoom } from '../remote/room.ts';
import { fill, type StepHandler } from './step.ts';

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
    if ((step.mode ?? 'confirm') === 'confirm' && !confirmed) {
      return { kind: 'wait', reason: 'confirmation', asked: { ask: 'call', server, tool, arguments: values } };
    }
    return {
      kind: 'change',
      action: 'callRemoteTool',
      async make(stop) {
        const { text, result } = await prepared.make(stop);
        const outcome = { server, tool, isError: false, characters: text.length, values: Object.keys(result).length };
        // `{{steps.<id>.text}}`, and what the answer has by name: `{{steps.<id>.amount}}`.
        return { kind: 'done', outcome, data: { ...result, text, result } };
      },
    };
  };
}
