#!/usr/bin/env node
// The command line. Each subcommand imports its modules when it runs, to keep startup fast. Exit codes: 0 success, 1
// failure, 2 incorrect usage.
import { Command, CommanderError } from 'commander';
import { readPackageVersion } from '../core/config/package-files.ts';
import { unwrapCodeFailure } from '../core/errors/code-failure.ts';
import { messageForOperator } from '../core/errors/connection.ts';
import { toAppError } from '../core/errors.ts';
import type { BootstrapOptions, CloudOptions, LoginOptions } from './cloud/commands.ts';
import { addCommand, flagsOf, withSettings } from './command.ts';
import { readConfig, readEnvironment } from './environment.ts';
import { idsLast } from './id-arguments.ts';
import type { McpOptions } from './mcp.ts';
import type { PushOptions } from './roles/commands.ts';
import type { SchemaOptions } from './schema.ts';
import { addDeletions } from './users/deletions.ts';
import { describeScopes } from './users/scopes.ts';
import type { TokenOptions } from './users/token.ts';
import type { SetOptions } from './users/user.ts';

const FAILED = 1;
const WRONGLY_USED = 2;

const version = readPackageVersion();

const program = new Command('portico')
  .description('An MCP server for your database, with its own sign-in.')
  .version(version, '--version', 'Print the version')
  .helpOption('-h, --help', 'Show help')
  .helpCommand(false)
  .showHelpAfterError("Try 'portico --help'.")
  .configureOutput({
    outputError: (text, write) => write(text.replace(/^error: /, 'portico: ')),
  })
  .exitOverride();

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];

withSettings(addCommand(program, 'start', 'Start the server; with the demo shop if no database is set'))
  .option('--email <address>', 'E-mail of the first user, created at the first start (SERVICE_ADMIN_EMAIL)')
  .action(async ({ email }: { email?: string }, command: Command) => {
    const { start } = await import('./start/command.ts');
    const flags = { ...flagsOf(command), ...(email !== undefined && { adminEmail: email }) };
    await start(await readConfig(flags), { version });
  });

withSettings(
  addCommand(program, 'mcp', 'Serve one client that starts this process, as the user of SERVICE_MCP_TOKEN'),
  'dataDir',
  'database',
  'logLevel',
)
  .requiredOption('--stdio', 'Use standard input and output')
  .option('--readonly', 'Only read-only tools')
  .option('--collections <list>', 'Only these collections, separated by commas')
  .action(async (options: Omit<McpOptions, 'version'>, command: Command) => {
    const { serveStdio } = await import('./mcp.ts');
    await serveStdio(await readConfig(flagsOf(command)), { version, ...options });
  });

withSettings(addCommand(program, 'doctor', 'Print the settings in effect, and any problems'))
  .option('--indexes', 'Also list the indexes that the database lacks')
  .action(async (options: { indexes?: true }, command: Command) => {
    const { examine } = await import('./doctor.ts');
    if (!(await examine(await readConfig(flagsOf(command)), options))) process.exitCode = FAILED;
  });

const user = addCommand(program, 'user', 'Add, change and list users');

withSettings(addCommand(user, 'add <email>', 'Add a user'), 'dataDir')
  .option('--level <level>', 'admin, developer, editor or user')
  .option('--team <name>', 'Team; created if it does not exist')
  .option('--role <name>', 'Role; created without permissions if it does not exist')
  .option('--first-name <name>', 'First name')
  .option('--last-name <name>', 'Last name')
  .option('--timezone <name>', 'IANA timezone, such as Europe/Paris')
  .option('--password-stdin', 'Read the password from standard input instead of generating one')
  .action(async (email: string, options: Record<string, string>, command: Command) => {
    const { addUser } = await import('./users/user.ts');
    const { dataDir: _dataDir, ...rest } = options;
    await addUser(await readConfig(flagsOf(command)), email, rest);
  });

withSettings(addCommand(user, 'password <email>', 'Set another password'), 'dataDir')
  .option('--password-stdin', 'Read the password from standard input instead of generating one')
  .action(async (email: string, options: Record<string, string>, command: Command) => {
    const { setPassword } = await import('./users/user.ts');
    await setPassword(await readConfig(flagsOf(command)), email, options);
  });

withSettings(addCommand(user, 'invite <email>', 'Add a user who sets the password with a link'), 'dataDir', 'publicUrl')
  .option('--level <level>', 'admin, developer, editor or user')
  .option('--team <name>', 'Team; created if it does not exist')
  .option('--role <name>', 'Role; created without permissions if it does not exist')
  .option('--first-name <name>', 'First name')
  .option('--last-name <name>', 'Last name')
  .option('--timezone <name>', 'IANA timezone, such as Europe/Paris')
  .action(async (email: string, options: Record<string, string>, command: Command) => {
    const { inviteUser } = await import('./users/account.ts');
    const { dataDir: _dataDir, publicUrl: _publicUrl, ...rest } = options;
    await inviteUser(await readConfig(flagsOf(command)), email, rest);
  });

withSettings(addCommand(user, 'reset <email>', 'Create a password reset link'), 'dataDir', 'publicUrl').action(
  async (email: string, _options: object, command: Command) => {
    const { resetPassword } = await import('./users/account.ts');
    await resetPassword(await readConfig(flagsOf(command)), email);
  },
);

withSettings(addCommand(user, 'set <email>', 'Change a user; options that are not set stay unchanged'), 'dataDir')
  .option('--level <level>', 'admin, developer, editor or user')
  .option('--team <name>', 'An existing team')
  .option('--role <name>', 'An existing role')
  .option('--first-name <name>', 'First name')
  .option('--last-name <name>', 'Last name')
  .option('--timezone <name>', 'IANA timezone, such as Europe/Paris')
  .option('--tag <key=value>', 'Set a tag; can be repeated', collect, [])
  .option('--unset-tag <key>', 'Remove a tag; can be repeated', collect, [])
  .action(async (email: string, options: SetOptions & { dataDir?: string }, command: Command) => {
    const { changeUser } = await import('./users/user.ts');
    const { dataDir: _dataDir, ...rest } = options;
    await changeUser(await readConfig(flagsOf(command)), email, rest);
  });

for (const [name, description] of [
  ['disable', 'End all sessions of a user and block sign-in'],
  ['enable', 'Allow a disabled user to sign in again'],
] as const) {
  withSettings(addCommand(user, `${name} <email>`, description), 'dataDir').action(
    async (email: string, _options: object, command: Command) => {
      const { setDisabled } = await import('./users/user.ts');
      await setDisabled(await readConfig(flagsOf(command)), email, name === 'disable');
    },
  );
}

withSettings(addCommand(user, 'reset-totp <email>', 'Remove the authenticator app of a user'), 'dataDir').action(
  async (email: string, _options: object, command: Command) => {
    const { resetTotp } = await import('./users/account.ts');
    await resetTotp(await readConfig(flagsOf(command)), email);
  },
);

withSettings(addCommand(user, 'sign-out <email>', 'End every session of a user'), 'dataDir')
  .option('--assistants', 'Also disconnect the assistants')
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

addDeletions(program, user);

const roles = addCommand(program, 'roles', 'Permissions as one file (docs/permissions.md)');

withSettings(addCommand(roles, 'pull [file]', 'Write the file; to standard output by default'), 'dataDir').action(
  async (file: string | undefined, _options: object, command: Command) => {
    const { pullRoles } = await import('./roles/commands.ts');
    await pullRoles(await readConfig(flagsOf(command)), file);
  },
);

withSettings(
  addCommand(roles, 'push <file>', 'Apply the file, after showing the changes; - reads standard input'),
  'dataDir',
  'database',
  'environment',
)
  .option('--yes', 'Do not ask for confirmation')
  .option('--check', 'Only show the changes; exit code 1 if there are any')
  .option('--agent <module>', 'A module that exports the agent, for an application with embedded Portico')
  .option('--allow-unknown', 'Allow names that are not served yet')
  .action(async (file: string, options: PushOptions, command: Command) => {
    const { pushRoles } = await import('./roles/commands.ts');
    if (!(await pushRoles(await readConfig(flagsOf(command)), file, options))) process.exitCode = FAILED;
  });

const token = addCommand(program, 'token', 'Create, list and revoke tokens for programs that cannot sign in');

withSettings(addCommand(token, 'create', 'Create a token of a user; it is printed only once'), 'dataDir')
  .requiredOption('--user <email>', 'User that the token acts as')
  .requiredOption('--name <name>', 'Purpose of the token, shown in the activity log')
  .requiredOption('--scopes <list>', 'Scopes of one of the kinds below, separated by commas')
  .option('--expires <time>', 'Lifetime: days as 90d, hours as 12h, or never', '90d')
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

withSettings(addCommand(token, 'revoke <id>', 'Revoke a token, immediately and in every process'), 'dataDir').action(
  async (id: string, _options: object, command: Command) => {
    const { revokeToken } = await import('./users/token.ts');
    await revokeToken(await readConfig(flagsOf(command)), id);
  },
);

const apps = addCommand(program, 'apps', 'List and revoke connections of apps, and block apps');

withSettings(addCommand(apps, 'list', 'List connected and blocked apps'), 'dataDir')
  .option('--user <email>', 'Only those of this user')
  .action(async (options: { user?: string }, command: Command) => {
    const { listApps } = await import('./users/connections.ts');
    await listApps(await readConfig(flagsOf(command)), options);
  });

for (const [name, description, run] of [
  ['revoke <id>', 'Revoke a connection, immediately and in every process', 'revokeApp'],
  ['block <client_id>', 'Revoke every connection of an app, and reject new ones', 'blockApp'],
  ['unblock <client_id>', 'Allow a blocked app to request access again', 'unblockApp'],
] as const) {
  withSettings(addCommand(apps, name, description), 'dataDir').action(
    async (id: string, _options: object, command: Command) => {
      const commands = await import('./users/connections.ts');
      await commands[run](await readConfig(flagsOf(command)), id);
    },
  );
}

const keys = addCommand(program, 'keys', 'List, rotate and retire the keys that sign cookies, forms and states');

withSettings(addCommand(keys, 'list', 'List the keys, without their values'), 'dataDir').action(
  async (_options: object, command: Command) => {
    const { listKeys } = await import('./keys.ts');
    await listKeys(await readConfig(flagsOf(command)));
  },
);

withSettings(
  addCommand(keys, 'rotate [purpose]', 'Sign with new keys; existing signatures stay valid'),
  'dataDir',
).action(async (purpose: string | undefined, _options: object, command: Command) => {
  const { rotateKeys } = await import('./keys.ts');
  await rotateKeys(await readConfig(flagsOf(command)), purpose);
});

withSettings(addCommand(keys, 'retire [purpose]', 'Delete replaced keys; their signatures become invalid'), 'dataDir')
  .option('--after <time>', 'Only keys replaced at least this long ago: days as 30d, hours as 12h', '30d')
  .action(async (purpose: string | undefined, options: { after: string }, command: Command) => {
    const { retireKeys } = await import('./keys.ts');
    await retireKeys(await readConfig(flagsOf(command)), purpose, options);
  });

const schema = addCommand(program, 'schema', 'The schema file: the served schema, for review (docs/library.md)');

const addSchemaCommand = (name: string, description: string): Command =>
  withSettings(addCommand(schema, name, description), 'dataDir', 'database')
    .option('--file <path>', 'The schema file; .service-schema.json by default')
    .option('--agent <module>', 'A module that exports an agent, instead of the served database');

addSchemaCommand(
  'check',
  'Compare the file with the served schema: exit code 1 if they differ, 2 if the comparison fails',
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

withSettings(
  addCommand(schema, 'reload', 'Ask every server of the storage to read the tables of its databases again'),
  'dataDir',
).action(async (_options: object, command: Command) => {
  const { reloadTables } = await import('./schema.ts');
  await reloadTables(await readConfig(flagsOf(command)));
});

const cloud = addCommand(
  program,
  'cloud',
  'Customize from another machine, against any Portico server (docs/cloud.md)',
);

cloudCommand('bootstrap [name]', 'Create a folder for customizations, typed by the database of the server').action(
  async (name: string | undefined, options: BootstrapOptions) => {
    const { bootstrap } = await import('./cloud/commands.ts');
    await bootstrap(name, { ...options, version });
  },
);

cloudCommand('login', 'Renew the sign-in, or sign in again')
  .option('--again', 'Sign in as another user, even if the sign-in is valid')
  .action(async (options: LoginOptions) => {
    const { login } = await import('./cloud/commands.ts');
    await login(options);
  });

cloudCommand(
  'update-typings',
  'Update typings.d.ts from the database of the server and the code of this folder',
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
  addCommand(cloud, 'secret', 'On the server: print the environment secret, generated if there is none'),
  'dataDir',
  'environment',
).action(async (_options: object, command: Command) => {
  const { printSecret } = await import('./cloud/secret.ts');
  await printSecret(await readConfig(flagsOf(command)));
});

function cloudCommand(nameAndArguments: string, description: string): Command {
  const command = addCommand(cloud, nameAndArguments, description)
    .option(
      '-s, --server <address>',
      'URL of the Portico server (SERVICE_CLOUD_SERVER); http://127.0.0.1:3931 by default',
    )
    .option('--no-browser', 'Do not open a browser');
  return /^login/.test(nameAndArguments)
    ? command
    : command.option('-e, --env-secret <secret>', 'Secret of the environment (SERVICE_ENV_SECRET)');
}

addCommand(program, 'eval <file>', 'Run recorded tasks (docs/eval.md) against the demo shop, or a server')
  .option('--url <address>', 'MCP URL of a server, called with the token in SERVICE_MCP_TOKEN')
  .action(async (file: string, options: { url?: string }) => {
    const { loadEvaluationKit } = await import('./parts.ts');
    const { evaluateFile } = await loadEvaluationKit();
    if (!(await evaluateFile(await readConfig({}), file, { version, ...options }))) process.exitCode = FAILED;
  });

function endWith(error: unknown, status: number): never {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const appError = toAppError(error, '');
  const line =
    appError.code !== 'INTERNAL'
      ? messageForOperator(appError)
      : `Unexpected error: ${message}. SERVICE_LOG_LEVEL=Debug shows details.`;
  process.stderr.write(`portico: ${line}\n`);
  const thrown = unwrapCodeFailure(error);
  if (thrown !== error && thrown instanceof Error) process.stderr.write(`${thrown.stack}\n`);
  if (isDebug()) process.stderr.write(`${stack}\n${error instanceof Error && error.cause ? `${error.cause}\n` : ''}`);
  // Resources that a failed start left open must not keep the process alive.
  process.exit(status);
}

function isDebug(): boolean {
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
  // Without a command the server starts, with the options that are given.
  const isCommand = /^(?:[^-]|-h$|--help$|--version$)/.test(process.argv[2] ?? '-');
  const argv = isCommand ? process.argv : process.argv.toSpliced(2, 0, 'start');
  await program.parseAsync(idsLast(program, argv));
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : WRONGLY_USED;
  } else {
    endWith(error, FAILED);
  }
}
