// Common setup of the test clients: options, the sandbox in the role of the platform, and tokens of its user.
import { readFileSync } from 'node:fs';
import { systemClock } from '../core/clock.ts';
import { createTestingToken } from '../oauth/tokens/session-token.ts';
import { type CheckedTestOptions, checkTestOptions, type TestClientOptions } from './options.ts';
import { type PermissionOverrides, writeRights } from './rights.ts';
import { connectSandbox, type SandboxControls } from './sandbox.ts';
import { openSchema, type Schema } from './schema.ts';

interface Connected {
  readonly options: CheckedTestOptions;
  readonly schema: Schema;
  readonly sandbox: SandboxControls;
  /** Token of the user, for the agent's HTTP API. */
  readonly token: () => Promise<string>;
  overridePermissions(overrides: PermissionOverrides): Promise<void>;
}

const tokenSeconds = 600;
/** A token is replaced when it expires within this time. */
const MIN_SECONDS = 60;

/** Throws CONFIGURATION, with a remedy, for invalid options, a missing schema or an unreachable sandbox. */
export async function connectToSandbox(
  caller: string,
  clientOptions: TestClientOptions,
  at: string,
): Promise<Connected> {
  const options = checkTestOptions(caller, clientOptions, at);
  const { envSecret, authSecret, serverUrl, schemaPath } = options;
  const schema = openSchema(schemaPath);
  const sandbox = await connectSandbox({ serverUrl, envSecret });
  // Agents upload their schema to the platform. In production, an agent may have uploaded it to another one.
  if ((await sandbox.schema()) === undefined) await sandbox.uploadSchema(readFileSync(schemaPath, 'utf8'));
  const { id: userId } = await sandbox.user();
  let issued: { readonly token: Promise<string>; readonly until: number } | undefined;
  const scoped = new Set<string>();
  return {
    options,
    schema,
    sandbox,
    token() {
      const now = systemClock.now();
      if (!issued || issued.until < now) {
        const token = createTestingToken({ authSecret, userId, seconds: tokenSeconds, clock: systemClock });
        issued = { token, until: now + (tokenSeconds - MIN_SECONDS) * 1000 };
      }
      return issued.token;
    },
    async overridePermissions(overrides) {
      // Throws for unknown collections: a misspelt name would leave everything allowed.
      for (const name of Object.keys(overrides)) if (name !== '*') schema.collection(name);
      await sandbox.overrideRights(writeRights(overrides, scoped));
      scoped.clear();
      for (const [name, { scope }] of Object.entries(overrides)) if (scope) scoped.add(name);
    },
  };
}
