// What the test clients have in common: the options, the sandbox that stands for the platform, and the tokens of its user.
import { readFileSync } from 'node:fs';
import { systemClock } from '../core/clock.ts';
import { makeTestingToken } from '../oauth/session-token.ts';
import { type CheckedTestOptions, checkTestOptions, type TestClientOptions } from './options.ts';
import { type PermissionOverrides, writeRights } from './rights.ts';
import { connectSandbox, type SandboxControls } from './sandbox.ts';
import { openSchema, type Schema } from './schema.ts';

export interface Connected {
  readonly options: CheckedTestOptions;
  readonly schema: Schema;
  readonly sandbox: SandboxControls;
  /** Of the user, for the agent's HTTP API. */
  readonly token: () => Promise<string>;
  overridePermissions(overrides: PermissionOverrides): Promise<void>;
}

const tokenSeconds = 600;
/** A token is made anew when it has no longer than this to live. */
const leastSeconds = 60;

/** CONFIGURATION, with what to do, for options that cannot be, a schema that is not there, or a sandbox that is not. */
export async function connectToSandbox(caller: string, given: TestClientOptions, at: string): Promise<Connected> {
  const options = checkTestOptions(caller, given, at);
  const { envSecret, authSecret, serverUrl, schemaPath } = options;
  const schema = openSchema(schemaPath);
  const sandbox = await connectSandbox({ serverUrl, envSecret });
  // An agent tells its platform itself; one that reads its schema in production may have told another.
  if ((await sandbox.schema()) === undefined) await sandbox.uploadSchema(readFileSync(schemaPath, 'utf8'));
  const { id: userId } = await sandbox.user();
  let made: { readonly token: Promise<string>; readonly until: number } | undefined;
  const scoped = new Set<string>();
  return {
    options,
    schema,
    sandbox,
    token() {
      const now = systemClock.now();
      if (!made || made.until < now) {
        const token = makeTestingToken({ authSecret, userId, seconds: tokenSeconds, clock: systemClock });
        made = { token, until: now + (tokenSeconds - leastSeconds) * 1000 };
      }
      return made.token;
    },
    async overridePermissions(overrides) {
      // A misspelt name would leave everything allowed.
      for (const name of Object.keys(overrides)) if (name !== '*') schema.collection(name);
      await sandbox.overrideRights(writeRights(overrides, scoped));
      scoped.clear();
      for (const [name, { scope }] of Object.entries(overrides)) if (scope) scoped.add(name);
    },
  };
}
