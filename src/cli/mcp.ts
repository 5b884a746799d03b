// `portico mcp --stdio`: serves the tools over standard input and output, for clients that start a process. Standard
// output carries only the protocol. The log and the output of user code go to standard error.
import { Writable } from 'node:stream';
import { systemClock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { createLogListener } from '../core/observe.ts';
import { startStdio } from '../server/stdio.ts';
import { prepareServed } from './served.ts';
import { stopOnSignals } from './start/signals.ts';
import { logUnhandledRejections } from './start/unawaited.ts';

export interface McpOptions {
  readonly version: string;
  readonly readonly?: boolean;
  readonly collections?: string;
}

/** Returns after the client has closed its side and all resources are closed. */
export async function serveStdio(config: Config, options: McpOptions): Promise<void> {
  const output = takeStandardOutput();
  logUnhandledRejections(createLogListener(config.logLevel));
  const { database, customize } = await prepareServed(config, systemClock);
  const app = await startStdio(
    { ...config, database },
    {
      version: options.version,
      ...(customize && { customize }),
      restrictions: { readOnly: options.readonly === true, collections: options.collections },
      input: process.stdin,
      output,
    },
  );
  stopOnSignals(app, systemClock);
  await app.ended;
  await app.stop('end of input');
  process.exit(0);
}

/** A `console.log` in a portico.config file would corrupt the protocol, so standard output is redirected. */
function takeStandardOutput(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  const output = new Writable({
    decodeStrings: false,
    write: (chunk: string | Buffer, _encoding, done) => {
      write(chunk as string, (error) => done(error ?? null));
    },
  });
  stdout.on('error', (error) => output.destroy(error));
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  return output;
}
