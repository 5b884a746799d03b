// External services of workflow steps: a language model that requests a write, and a remote MCP server. Both are real
// servers on loopback.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AiProvider } from '../../src/index.ts';
import { providerAt, saying } from '../agent/ai-server.ts';
import { openRemote, type RemoteFixture } from '../workflow/remote/server.ts';

export interface Outside {
  /** A model that answers every question with `WANTED`. */
  readonly provider: AiProvider;
  readonly remote: RemoteFixture;
  stop(): Promise<void>;
}

/** The margin that the model returns, and that `update` writes. */
export const WANTED = 5;

export async function openOutside(): Promise<Outside> {
  const reply = saying('openai', JSON.stringify({ answer: WANTED })) as { readonly body: unknown };
  const model = createServer((req, res) => {
    req.resume();
    req.on('end', () => res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply.body)));
  });
  await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve));
  const remote = await openRemote();
  return {
    provider: providerAt('openai', `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`),
    remote,
    async stop() {
      model.closeAllConnections();
      await new Promise((resolve) => model.close(resolve));
      await remote.stop();
    },
  };
}
