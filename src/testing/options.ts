// What the test clients are given (spec 2.9), checked: each option is a row that says what to do.
import { checkRows, isText, type OptionRows, refuseOption } from '../agent/check-options.ts';

/** Each secret by one of its two names. */
export interface TestClientOptions {
  /** The agent's envSecret. */
  readonly agentServiceEnvSecret?: string;
  /** The same. */
  readonly agentForestEnvSecret?: string;
  /** The agent's authSecret. */
  readonly agentServiceAuthSecret?: string;
  /** The same. */
  readonly agentForestAuthSecret?: string;
  /** Of the agent's HTTP API, such as `http://127.0.0.1:3931/service`; without a path the prefix is `/service`. */
  readonly agentUrl: string;
  /** Of the sandbox: its `url`. */
  readonly serverUrl: string;
  /** Of the schema file that the agent writes: its schemaPath. */
  readonly agentSchemaPath: string;
  /** IANA name of the zone that the user is in. Default `UTC`. */
  readonly timezone?: string;
  /** How long the agent may take for an answer. Default 10. */
  readonly timeoutSeconds?: number;
}

export interface CheckedTestOptions {
  readonly envSecret: string;
  readonly authSecret: string;
  /** Of the HTTP API, without a slash at its end. */
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
  takes: isText,
});
const rows: OptionRows<TestClientOptions> = {
  agentServiceEnvSecret: secretOf('envSecret'),
  agentForestEnvSecret: secretOf('envSecret'),
  agentServiceAuthSecret: secretOf('authSecret'),
  agentForestAuthSecret: secretOf('authSecret'),
  agentUrl: {
    required: true,
    expected: "the address at which the agent listens, such as 'http://127.0.0.1:3931'",
    takes: isAddress,
  },
  serverUrl: { required: true, expected: "the address of the sandbox: its 'url'", takes: isAddress },
  agentSchemaPath: {
    required: true,
    expected: "the path of the schema file that the agent writes: its 'schemaPath'",
    takes: isText,
  },
  timezone: { expected: "the IANA name of a timezone such as 'Europe/Oslo'", takes: isZone },
  timeoutSeconds: {
    expected: 'a number of seconds above 0',
    takes: (value) => typeof value === 'number' && value > 0 && value < 100_000,
  },
};

/** CONFIGURATION, with the line `at`, for options that are missing, unknown or not as they must be. */
export function checkTestOptions(caller: string, given: TestClientOptions, at: string): CheckedTestOptions {
  checkRows(caller, given, rows, at);
  const secret = (what: 'Env' | 'Auth'): string => {
    const [service, forest] = [`agentService${what}Secret`, `agentForest${what}Secret`] as const;
    const [one, other] = [given[service], given[forest]];
    if (one !== undefined && other !== undefined)
      refuseOption(`${caller}: '${service}' and '${forest}' are one option: give one of them`, at);
    const found = one ?? other;
    return found ?? refuseOption(`${caller} needs '${service}': ${rows[service].expected}`, at);
  };
  const url = new URL(given.agentUrl);
  const path = url.pathname.replace(/\/+$/, '');
  return {
    envSecret: secret('Env'),
    authSecret: secret('Auth'),
    agentUrl: url.origin + (path === '' ? defaultPrefix : path),
    serverUrl: given.serverUrl.replace(/\/+$/, ''),
    schemaPath: given.agentSchemaPath,
    timezone: given.timezone ?? 'UTC',
    timeoutSeconds: given.timeoutSeconds ?? defaultSeconds,
  };
}

function isZone(value: unknown): boolean {
  try {
    return isText(value) && new Intl.DateTimeFormat('en', { timeZone: value }) !== undefined;
  } catch {
    return false;
  }
}
