// `portico cloud start`: serves local databases with the code of a customization folder, on a standalone server.
import { createHeadlessAgent } from '../../agent/agent.ts';
import { createSqlDataSource } from '../../agent/data-sources.ts';
import type { Config } from '../../core/config.ts';
import { fail } from '../../core/errors.ts';
import { sourceOptionsOf } from '../../server/data.ts';
import { readEnvironment } from '../environment.ts';
import { start } from '../start/command.ts';
import { compile, loadConnections, loadCustomization } from './code.ts';
import { requireProjectFolder } from './commands.ts';
import { readRenames } from './folder.ts';

export async function startFolder(config: Config, { version }: { readonly version: string }): Promise<void> {
  const folder = process.cwd();
  requireProjectFolder(folder);
  compile(folder, 'checked');
  const [customize, connect] = await Promise.all([loadCustomization(folder), loadConnections(folder)]);
  const connections = connect(readEnvironment());
  if (!Array.isArray(connections) || connections.length === 0 || connections.some((one) => !one)) {
    const problem =
      'src/data-source.ts has no database to serve: set DATABASE_URL in .env, such as sqlite:./copy.sqlite or postgres://user:password@localhost/shop.';
    fail('CONFIGURATION', { problem });
  }
  const renames = readRenames(folder);
  await start(config, {
    version,
    instead: {
      serves: connections.length === 1 ? 'the database of src/data-source.ts' : 'the databases of src/data-source.ts',
      async openEngine(parts) {
        const agent = createHeadlessAgent();
        for (const [at, connection] of connections.entries())
          agent.addDataSource(createSqlDataSource(connection, sourceOptionsOf(config)), {
            rename: renames[at] ?? {},
          });
        await customize(agent);
        return agent.createEngine(parts);
      },
    },
  });
}
