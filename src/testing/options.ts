// Options of the test clients (behaviour 2.9) and their validation. Each option has a row that describes valid values.

import { checkOptions, isText, type OptionRules, refuseOption } from '../agent/customize/option-checks.ts';
import { isZone } from '../core/clock/timezone.ts';

/** Options of the test clients. Each secret has two names; use one of them. */
export interface TestClientOptions {
  /** The agent's envSecret. Default: `agentForestEnvSecret`; one of the two is required. */
  readonly agentServiceEnvSecret?: string;
  /** Alias of `agentServiceEnvSecret`. Default: that option. */
  readonly agentForestEnvSecret?: string;
  /** The agent's authSecret. Default: `agentForestAuthSecret`; one of the two is required. */
  readonly agentServiceAuthSecret?: string;
  /** Alias of `agentServiceAuthSecret`. Default: that option. */
  readonly agentForestAuthSecret?: string;
  /** URL of the agent's HTTP API, such as `http://127.0.0.1:3931/service`. Without a path, the prefix is `/service`. */
  readonly agentUrl: string;
  /** URL of the sandbox: its `url`. */
  readonly serverUrl: string;
  /** Path of the schema file that the agent writes: its schemaPath. */
  readonly agentSchemaPath: string;
  /** IANA name of the user's timezone. Default `UTC`. */
  readonly timezone?: string;
  /** Timeout of a request in seconds. Default 10. */
  readonly timeoutSeconds?: number;
}

export interface CheckedTestOptions {
  readonly envSecret: string;
  readonly authSecret: string;
  /** URL of the HTTP API, without a trailing slash. */
  readonly agentUrl: string;
  readonly serverUrl: string;
  readonly schemaPath: string;
  readonly timezone: string;
  readonly timeoutSeconds: number;
}

const defaultPrefix = '/service';
const defaultSeconds = 10;

const isAddress = (value: unknown): boolean => isText(value) && /^https?:\/\//.test(value) && URL.canParse(value);
const secretOf = (name: string) => ({
  expected: `the ${name} that the agent was created with`,
  accepts: isText,
});
const rows: OptionRules<TestClientOptions> = {
  agentServiceEnvSecret: secretOf('envSecret'),
  agentForestEnvSecret: secretOf('envSecret'),
  agentServiceAuthSecret: secretOf('authSecret'),
  agentForestAuthSecret: secretOf('authSecret'),
  agentUrl: {
    required: true,
    expected: "the address of the agent, such as 'http://127.0.0.1:3931'",
    accepts: isAddress,
  },
  serverUrl: { required: true, expected: "the address of the sandbox: its 'url'", accepts: isAddress },
  agentSchemaPath: {
    required: true,
    expected: "the path of the schema file that the agent writes: its 'schemaPath'",
    accepts: isText,
  },
  timezone: {
    expected: "the IANA name of a timezone such as 'Europe/Oslo'",
    accepts: (value) => isText(value) && isZone(value),
  },
  timeoutSeconds: {
    expected: 'a number of seconds above 0',
    accepts: (value) => typeof value === 'number' && value > 0 && value < 100_000,
  },
};

/** Throws CONFIGURATION, with the line `at`, for missing, unknown or invalid options. */
export function checkTestOptions(caller: string, options: TestClientOptions, at: string): CheckedTestOptions {
  checkOptions(caller, options, rows, at);
  const secret = (what: 'Env' | 'Auth'): string => {
    const [service, forest] = [`agentService${what}Secret`, `agentForest${what}Secret`] as const;
    const [one, other] = [options[service], options[forest]];
    if (one !== undefined && other !== undefined)
      refuseOption(`${caller}: '${service}' and '${forest}' are the same option: set one of them`, at);
    const found = one ?? other;
    return found ?? refuseOption(`${caller} needs '${service}': ${rows[service].expected}`, at);
  };
  const url = new URL(options.agentUrl);
  const path = url.pathname.replace(/\/+$/, '');
  return {
    envSecret: secret('Env'),
    authSecret: secret('Auth'),
    agentUrl: url.origin + (path === '' ? defaultPrefix : path),
    serverUrl: options.serverUrl.replace(/\/+$/, ''),
    schemaPath: options.agentSchemaPath,
    timezone: options.timezone ?? 'UTC',
    timeoutSeconds: options.timeoutSeconds ?? defaultSeconds,
  };
}
