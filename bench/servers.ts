// Starts Portico and the bare servers over one database. Portico is first, because its answers define the columns and
// the texts of the others.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { obtainTokens, register } from './client.ts';
import type { Work, Works } from './contestants/work.ts';
import { answerOf, type ServerProcess, startServer, stopServer } from './driver.ts';
import type { Operation } from './operations.ts';
import { messageOf, requestOf } from './requests.ts';

export interface Field {
  readonly portico: ServerProcess;
  readonly bare: readonly ServerProcess[];
  readonly authorization: string;
  /** Also removes the folder. */
  stop(): Promise<void>;
}

export interface FieldOptions {
  /** The URL of the served database. */
  readonly url: string;
  /** For the data of Portico and the works of the bare servers. */
  readonly folder: string;
  readonly list: Works['list'];
  readonly operations: readonly Operation[];
  /** The statements of the bare servers, by operation name. */
  readonly statements: ReadonlyMap<string, readonly string[]>;
  /** Whether the SDK's default handler runs too. */
  readonly withSdk: boolean;
}

export async function openServers(options: FieldOptions): Promise<Field> {
  const { url, folder, list, operations, statements, withSdk } = options;
  const portico = await startServer('Portico', 'portico', {
    SERVICE_DATA_DIR: join(folder, 'data'),
    SERVICE_DATABASE_URL: url,
    SERVICE_MCP_REQUESTS_PER_MINUTE: '0',
    SERVICE_ACCESS_TOKEN_SECONDS: '3600',
    SERVICE_ANSWER_TOKENS: '1000000',
    MCP_SERVER_PORT: '0',
  });
  const tokens = await obtainTokens(portico.address, await register(portico.address));
  const authorization = `Bearer ${tokens.access_token}`;
  const works: Record<string, Work> = {};
  for (const operation of operations) {
    const request = requestOf(operation, portico, 'legacy', { authorization });
    const { result } = messageOf(await answerOf({ name: operation.name, server: portico, request, rounds: [] }));
    const answer = operation.answers === 'text' ? {} : parseAnswer(operation.name, result.content[0].text);
    const { columns = [], nextCursor } = answer;
    works[operation.name] = {
      sql: statements.get(operation.name) ?? [],
      result,
      columns,
      ...(nextCursor !== undefined && { nextCursor }),
    };
  }
  const storage = join(folder, 'audit.sqlite');
  const own = new Database(join(folder, 'data', 'portico.sqlite'));
  own.prepare('VACUUM INTO ?').run(storage);
  own.close();
  const file = join(folder, 'works.json');
  writeFileSync(file, JSON.stringify({ databaseUrl: url, storage, list, works } satisfies Works));
  const start = (name: string, script: string) => startServer(name, script, { BENCH_WORKS: file });
  const bare = [await start('bare node:http', 'bare-http'), await start('bare Express', 'bare-express')];
  if (withSdk) bare.push(await start('SDK default, no auth, no SQL', 'sdk-default'));
  return {
    portico,
    bare,
    authorization,
    async stop() {
      for (const server of [...bare, portico]) await stopServer(server);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function parseAnswer(name: string, text: string): Partial<Work> {
  try {
    return JSON.parse(text) as Partial<Work>;
  } catch {
    throw new Error(`Portico answers ${name} with: ${text}`);
  }
}
