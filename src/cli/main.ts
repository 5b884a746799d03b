#!/usr/bin/env node
// The command line. Each subcommand imports its modules when it runs, to keep startup fast. Exit codes: 0 success, 1
// failure, 2 incorrect usage.
import { readFileSync } from 'node:fs';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { entranceWords, scopeWords } from '../console/pages/tokens/words.ts';
import { type SettingName, settings } from '../core/config.ts';
import { thrownBy } from '../core/errors/code-failure.ts';
import { messageForOperator } from '../core/errors/connection.ts';
import { toAppError } from '../core/errors.ts';
import type { BootstrapOptions, CloudOptions, LoginOptions } from './cloud/commands.ts';
import { type Flags, readConfig, readEnvironment } from './environment.ts';
import { idsLast } from './id-arguments.ts';
import type { McpOptions } from './mcp.ts';
import type { PushOptions } from './roles/commands.ts';
import type { SchemaOptions } from './schema.ts';
import type { TokenOptions } from './users/token.ts';
import type { SetOptions } from './users/user.ts';

const FAILED = 1;
const WRONGLY_USED = 2;

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** Options for settings, generated from the table in core/config.ts. */
const settingOptions: readonly [SettingName, Option][] = (
  Object.entries(settings) as [SettingName, (typeof settings)[SettingName]][]
).flatMap(([name, row]) => {
  if (!('flag' in row)) return [];
  const check = (value: string): string => {
    try {
      row.read(value);
      return value;
    } catch (error) {
      throw new InvalidArgumentError((error as Error).message);
    }
  };
  return [[name, new Option(`${row.flag} <value>`, `${row.about} (${row.env})`).argParser(check)]];
});

function flagsOf(command: Command): Flags {
  const given = command.opts<Record<string, string>>();
  return Object.fromEntries(Object.keys(settings).flatMap((name) => (name in given ? [[name, given[name]]] : [])));
}

const program = new Command('portico')
  .description('An MCP server with its own sign-in, in front of your database.')
  .version(version, '--version', 'Print the version')
  .helpOption('-h, --help', 'Show help')
  .helpCommand(false)
  .showHelpAfterError("Try 'portico --help'.")
  .configureOutput({
    outputError: (text, write) => write(text.replace(/^error: /, 'portico: ')),
  })
  .exitOverride();

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

function addCommand(parent: Command, nameAndArguments: string, description: string): Command {
  const command = parent.command(nameAndArguments).description(description).allowExcessArguments(false);
  command.helpOption('-h, --help', 'Show help');
  return command;
}

function withSettings(command: Command, ...only: readonly SettingName[]): Command {
  for (const [name, option] of settingOptions) if (only.length === 0 || only.includes(name)) command.addOption(option);
  return command;
}

withSettings(addCommand(program, 'start', 'Start the server; with the demo shop when no database is named'))
  .option('--email <address>', 'Address of the first user, made at the first start')
  .action(async (options: { email?: string }, command: Command) => {
    const { start } = await import('./start/command.ts');
    await start(await readConfig(flagsOf(command)), { version, ...options });
  });

withSettings(
  addCommand(program, 'mcp', 'Serve one client that starts this as a process, as SERVICE_MCP_TOKEN says'),
  'dataDir',
  'database',
  'logLevel',
)
  .requiredOption('--stdio', 'Over standard input and output')
  .option('--readonly', 'Only tools that read')
  .option('--collections <list>', 'Only these collections, with commas between them')
  .action(async (options: Omit<McpOptions, 'version'>, command: Command) => {
    const { serveStdio } = await import('./mcp.ts');
    await serveStdio(await readConfig(flagsOf(command)), { version, ...options });
  });

withSettings(addCommand(program, 'doctor', 'Print the settings in effect, and what is wrong')).action(
  async (_options: object, command: Command) => {
    const { examine } = await import('./doctor.ts');
    if (!(await examine(await readConfig(flagsOf(command))))) process.exitCode = FAILED;
  },
);

const user = addCommand(program, 'user', 'Add, change and list the people who may sign in');

withSettings(addCommand(user, 'add <email>', 'Add a user'), 'dataDir')
  .option('--level <level>', 'admin, developer, editor or user')
  .option('--team <name>', 'Team; made when there is none of this name')
  .option('--role <name>', 'Role; made, without permissions, when there is none of this name')
  .option('--first-name <name>', 'First name')
  .option('--last-name <name>', 'Last name')
  .option('--timezone <name>', 'IANA timezone, such as Europe/Paris')
  .option('--password-stdin', 'Read the password from standard input instead of making one')
  .action(async (email: string, options: Record<string, string>, command: Command) => {
    const { addUser } = await import('./users/user.ts');
    const { dataDir: _dataDir, ...rest } = options;
    await addUser(await readConfig(flagsOf(command)), email, rest);
  });

withSettings(addCommand(user, 'password <email>', 'Set another password'), 'dataDir')
  .option('--password-stdin', 'Read the password from standard input instead of making one')
  .action(async (email: string, options: Record<string, string>, command: Command) => {
    const { setPassword } = await import('./users/user.ts');
    await setPassword(await readConfig(flagsOf(command)), email, options);
  });

withSettings(
  addCommand(user, 'invite <email>', 'Add a user who chooses the password by a link'),
  'dataDir',
  'publicUrl',
)
  .option('--level <level>', 'admin, developer, editor or user')
  .option('--team <name>', 'Team; made when there is none of this name')
  .option('--role <name>', 'Role; made, without permissions, when there is none of this name')
  .option('--first-name <name>', 'First name')
  .option('--last-name <name>', 'Last name')
  .option('--timezone <name>', 'IANA timezone, such as Europe/Paris')
  .action(async (email: string, options: Record<string, string>, command: Command) => {
    const { inviteUser } = await import('./users/account.ts');
    const { dataDir: _dataDir, publicUrl: _publicUrl, ...rest } = options;
    await inviteUser(await readConfig(flagsOf(command)), email, rest);
  });

withSettings(addCommand(user, 'reset <email>', 'Make a link for another password'), 'dataDir', 'publicUrl').action(
  async (email: string, _options: object, command: Command) => {
    const { resetPassword } = await import('./users/account.ts');
    await resetPassword(await readConfig(flagsOf(command)), email);
  },
);

withSettings(addCommand(user, 'set <email>', 'Change what a user is; what is not named stays'), 'dataDir')
  .option('--level <level>', 'admin, developer, editor or user')
  .option('--team <name>', 'A team that is there')
  .option('--role <name>', 'A role that is there')
  .option('--first-name <name>', 'First name')
  .option('--last-name <name>', 'Last name')
  .option('--timezone <name>', 'IANA timezone, such as Europe/Paris')
  .option('--tag <key=value>', 'Set a tag; may be given several times', collect, [])
  .option('--unset-tag <key>', 'Take a tag away; may be given several times', collect, [])
  .action(async (email: string, options: SetOptions & { dataDir?: string }, command: Command) => {
    const { changeUser } = await import('./users/user.ts');
    const { dataDir: _dataDir, ...rest } = options;
    await changeUser(await readConfig(flagsOf(command)), email, rest);
  });

for (const [name, description] of [
  ['disable', 'End everything that a user is signed in to, and let him in no more'],
  ['enable', 'Let a disabled user in again'],
] as const) {
  withSettings(addCommand(user, `${name} <email>`, description), 'dataDir').action(
    async (email: string, _options: object, command: Command) => {
      const { setDisabled } = await import('./users/user.ts');
      await setDisabled(await readConfig(flagsOf(command)), email, name === 'disable');
    },
  );
}

withSettings(addCommand(user, 'reset-totp <email>', 'Switch the authenticator app of a user off'), 'dataDir').action(
  async (email: string, _options: object, command: Command) => {
    const { resetTotp } = await import('./users/account.ts');
    await resetTotp(await readConfig(flagsOf(command)), email);
  },
);

withSettings(addCommand(user, 'sign-out <email>', 'End every session of a user'), 'dataDir')
  .option('--assistants', 'Disconnect the assistants too')
  .action(async (email: string, options: { assistants?: boolean }, command: Command) => {
    const { signOutUser } = await import('./users/account.ts');
    await signOutUser(await readConfig(flagsOf(command)), email, options);
  });

withSettings(addCommand(user, 'list', 'List the users'), 'dataDir').action(
  async (_options: object, command: Command) => {
    const { listUsers } = await import('./users/user.ts');
    await listUsers(await readConfig(flagsOf(command)));
  },
);

const roles = addCommand(program, 'roles', 'Who may do what, as one file (docs/permissions.md)');

withSettings(
  addCommand(roles, 'pull [file]', 'Write the file, to standard output where none is named'),
  'dataDir',
).action(async (file: string | undefined, _options: object, command: Command) => {
  const { pullRoles } = await import('./roles/commands.ts');
  await pullRoles(await readConfig(flagsOf(command)), file);
});

withSettings(
  addCommand(roles, 'push <file>', 'Make it so, after showing what would change; - reads standard input'),
  'dataDir',
  'database',
  'environment',
)
  .option('--yes', 'Without asking')
  .option('--check', 'Only show; exit code 1 when there is a difference')
  .option('--agent <module>', 'A module that exports the agent, for an application that has Portico in it')
  .option('--allow-unknown', 'Save names that are not served yet')
  .action(async (file: string, options: PushOptions, command: Command) => {
    const { pushRoles } = await import('./roles/commands.ts');
    if (!(await pushRoles(await readConfig(flagsOf(command)), file, options))) process.exitCode = FAILED;
  });

function describeScopes(): string {
  const kinds = (['mcp', 'api'] as const).map((entrance) => {
    const width = Math.max(...scopeWords[entrance].map(({ scope }) => scope.length));
    const lines = scopeWords[entrance].map(
      ({ scope, detail, admin }) => `  ${scope.padEnd(width)}  ${detail}${admin ? ' For administrators.' : ''}`,
    );
    return `${entranceWords[entrance].detail}\n${lines.join('\n')}\n`;
  });
  return `\nScopes. A token has those of one kind, never of both.\n\n${kinds.join('\n')}`;
}

const token = addCommand(program, 'token', 'Make, list and revoke the tokens of programs that cannot sign in');

withSettings(addCommand(token, 'create', 'Make a token of a user; it is printed this once'), 'dataDir')
  .requiredOption('--user <email>', 'Whose rights it has')
  .requiredOption('--name <name>', 'What it is for; the activity log says it')
  .requiredOption('--scopes <list>', 'What it opens, with commas between them: scopes of one of the kinds below')
  .option('--expires <time>', 'Days as 90d, hours as 12h, or never', '90d')
  .addHelpText('after', describeScopes)
  .action(async (options: TokenOptions, command: Command) => {
    const { createToken } = await import('./users/token.ts');
    await createToken(await readConfig(flagsOf(command)), options);
  });

withSettings(addCommand(token, 'list', 'List the tokens'), 'dataDir').action(
  async (_options: object, command: Command) => {
    const { listTokens } = await import('./users/token.ts');
    await listTokens(await readConfig(flagsOf(command)));
  },
);

withSettings(addCommand(token, 'revoke <id>', 'End a token, at once and in every process'), 'dataDir').action(
  async (id: string, _options: object, command: Command) => {
    const { revokeToken } = await import('./users/token.ts');
    await revokeToken(await readConfig(flagsOf(command)), id);
  },
);

const apps = addCommand(program, 'apps', 'List and revoke what people allowed apps, and block apps');

withSettings(addCommand(apps, 'list', 'List the connected apps, and those that are blocked'), 'dataDir')
  .option('--user <email>', 'Only those of this user')
  .action(async (options: { user?: string }, command: Command) => {
    const { listApps } = await import('./users/connections.ts');
    await listApps(await readConfig(flagsOf(command)), options);
  });

for (const [name, description, run] of [
  ['revoke <id>', 'End a connection, at once and in every process', 'revokeApp'],
  ['block <client_id>', 'End every connection of an app, and let it sign nobody in', 'blockApp'],
  ['unblock <client_id>', 'Let a blocked app ask people again', 'unblockApp'],
] as const) {
  withSettings(addCommand(apps, name, description), 'dataDir').action(
    async (id: string, _options: object, command: Command) => {
      const commands = await import('./users/connections.ts');
      await commands[run](await readConfig(flagsOf(command)), id);
    },
  );
}

const keys = addCommand(program, 'keys', 'List, rotate and retire the keys that sign cookies, forms and states');

withSettings(addCommand(keys, 'list', 'List the keys, without what they are'), 'dataDir').action(
  async (_options: object, command: Command) => {
    const { listKeys } = await import('./keys.ts');
    await listKeys(await readConfig(flagsOf(command)));
  },
);

withSettings(
  addCommand(keys, 'rotate [purpose]', 'Sign with new keys; what was signed before stays good'),
  'dataDir',
).action(async (purpose: string | undefined, _options: object, command: Command) => {
  const { rotateKeys } = await import('./keys.ts');
  await rotateKeys(await readConfig(flagsOf(command)), purpose);
});

withSettings(
  addCommand(keys, 'retire [purpose]', 'Forget keys that were replaced; what they signed is no longer good'),
  'dataDir',
)
  .option('--after <time>', 'Only those that were replaced so long ago: days as 30d, hours as 12h', '30d')
  .action(async (purpose: string | undefined, options: { after: string }, command: Command) => {
    const { retireKeys } = await import('./keys.ts');
    await retireKeys(await readConfig(flagsOf(command)), purpose, options);
  });

const schema = addCommand(program, 'schema', 'The schema file: what is served, to be reviewed (docs/library.md)');

const addSchemaCommand = (name: string, description: string): Command =>
  withSettings(addCommand(schema, name, description), 'dataDir', 'database')
    .option('--file <path>', 'The schema file; .service-schema.json when absent')
    .option('--agent <module>', 'A module that exports an agent, in place of the served database');

addSchemaCommand(
  'check',
  'Compare the file with what is served: ends with 1 when they differ, with 2 when it cannot',
).action(async (options: SchemaOptions, command: Command) => {
  const { checkSchema } = await import('./schema.ts');
  try {
    if (!(await checkSchema(await readConfig(flagsOf(command)), options))) process.exitCode = FAILED;
  } catch (error) {
    endWith(error, WRONGLY_USED);
  }
});

addSchemaCommand('write', 'Write the file').action(async (options: SchemaOptions, command: Command) => {
  const { writeSchema } = await import('./schema.ts');
  await writeSchema(await readConfig(flagsOf(command)), options);
});

const cloud = addCommand(
  program,
  'cloud',
  'Customize from another machine, against any Portico server (docs/cloud.md)',
);

cloudCommand('bootstrap [name]', 'Make a folder for customizations, typed by the database of the server').action(
  async (name: string | undefined, options: BootstrapOptions) => {
    const { bootstrap } = await import('./cloud/commands.ts');
    await bootstrap(name, { ...options, version });
  },
);

cloudCommand('login', 'Renew the sign-in, or sign in again')
  .option('--again', 'As somebody else, though the sign-in is good')
  .action(async (options: LoginOptions) => {
    const { login } = await import('./cloud/commands.ts');
    await login(options);
  });

cloudCommand(
  'update-typings',
  'Write typings.d.ts anew, of the database of the server and the code of this folder',
).action(async (options: CloudOptions) => {
  const { updateTypings } = await import('./cloud/commands.ts');
  await updateTypings(options);
});

withSettings(
  addCommand(cloud, 'start', 'Serve the databases of src/data-source.ts with the code of this folder'),
).action(async (_options: object, command: Command) => {
  const { startFolder } = await import('./cloud/start.ts');
  await startFolder(await readConfig(flagsOf(command)), { version });
});

withSettings(
  addCommand(cloud, 'secret', 'On the server: print the environment secret, made when there is none'),
  'dataDir',
  'environment',
).action(async (_options: object, command: Command) => {
  const { printSecret } = await import('./cloud/secret.ts');
  await printSecret(await readConfig(flagsOf(command)));
});

function cloudCommand(nameAndArguments: string, description: string): Command {
  const command = addCommand(cloud, nameAndArguments, description)
    .option('-s, --server <address>', 'Of the Portico server (SERVICE_CLOUD_SERVER); http://127.0.0.1:3931 by default')
    .option('--no-browser', 'Open no browser');
  return /^login/.test(nameAndArguments)
    ? command
    : command.option('-e, --env-secret <secret>', 'Of the environment (SERVICE_ENV_SECRET)');
}

addCommand(program, 'eval <file>', 'Run recorded tasks (docs/eval.md) against the demo shop, or a server')
  .option('--url <address>', 'MCP address of a server, asked with the token in SERVICE_MCP_TOKEN')
  .action(async (file: string, options: { url?: string }) => {
    const { evaluateFile } = await import('./eval/command.ts');
    if (!(await evaluateFile(await readConfig({}), file, { version, ...options }))) process.exitCode = FAILED;
  });

function endWith(error: unknown, status: number): never {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const known = toAppError(error, '');
  const line =
    known.code !== 'INTERNAL'
      ? messageForOperator(known)
      : `Something went wrong: ${message}. SERVICE_LOG_LEVEL=Debug tells more.`;
  process.stderr.write(`portico: ${line}\n`);
  const thrown = thrownBy(error);
  if (thrown !== error && thrown instanceof Error) process.stderr.write(`${thrown.stack}\n`);
  if (wantsDebug())
    process.stderr.write(`${stack}\n${error instanceof Error && error.cause ? `${error.cause}\n` : ''}`);
  // Resources that a failed start left open must not keep the process alive.
  process.exit(status);
}

function wantsDebug(): boolean {
  const flag = process.argv.join(' ').match(/--log-level[= ](\w+)/)?.[1];
  return (flag ?? readLogLevel())?.toLowerCase() === 'debug';
}

/** The environment itself may be the cause of the error. */
function readLogLevel(): string | undefined {
  try {
    return readEnvironment().SERVICE_LOG_LEVEL;
  } catch {
    return process.env.SERVICE_LOG_LEVEL;
  }
}

// A reader such as `head` can close the pipe early. The command still completes its work.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });

try {
  await program.parseAsync(idsLast(program, process.argv));
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : WRONGLY_USED;
  } else {
    endWith(error, FAILED);
  }
}
