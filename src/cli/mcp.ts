// `portico mcp --stdio`: the tools over standard input and output, for clients that start a process. Standard output is the
// protocol's alone; the log, and what code of the user prints, go to standard error.
import { Writable } from 'node:stream';
import { startStdio } from '../app/stdio.ts';
import { systemClock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { prepareServed } from './served.ts';
import { stopOnSignals } from './signals.ts';

export interface McpOptions {
  readonly version: string;
  readonly readonly?: boolean;
  readonly collections?: string;
}

/** Returns when the client has ended its side and everything is closed. */
export async function serveStdio(config: Config, options: McpOptions): Promise<void> {
  const output = takeStandardOutput();
  const { database, customize } = await prepareServed(config, systemClock);
  const app = await startStdio(
    { ...config, database },
    {
      version: options.version,
      ...(customize && { customize }),
      narrowing: { readOnly: options.readonly === true, collections: options.collections },
      input: process.stdin,
      output,
    },
  );
  stopOnSignals(app, systemClock);
  await app.ended;
  await app.stop('end of input');
  process.exit(0);
}

/** A `console.log` in somebody's portico.config would be read as a message, and end the connection. */
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
