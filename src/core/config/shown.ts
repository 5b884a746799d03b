// Settings for display: in groups, with secrets masked and the origin of each value.
import { type Config, type SettingName, settings } from '../config.ts';
import { maskDatabases } from './databases.ts';
import { maskUrl } from './masking.ts';

export interface ShownSetting {
  readonly name: SettingName;
  /** The environment variable. */
  readonly env: string;
  /** The command-line flag, if there is one. */
  readonly flag: string | undefined;
  readonly about: string;
  /** `***` for a secret that is set, `-` for a setting without a value. */
  readonly value: string;
  readonly origin: Config['origins'][SettingName];
}

/** In the order of the table of settings. */
export function describeSettings(config: Config): readonly ShownSetting[] {
  return (Object.keys(settings) as SettingName[]).map((name) => describeSetting(name, config));
}

function describeSetting(name: SettingName, config: Config): ShownSetting {
  const row = settings[name];
  return {
    name,
    env: row.env,
    flag: 'flag' in row ? row.flag : undefined,
    about: row.about,
    value: showValue(name, config[name]),
    origin: config.origins[name],
  };
}

function showValue(name: SettingName, value: unknown): string {
  if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) return '-';
  if (name === 'database') return maskDatabases(String(value));
  if (name === 'storageUrl') return maskUrl(String(value));
  if (name === 'ssoProviders') return showProviders(String(value));
  if ('secret' in settings[name]) return '***';
  return Array.isArray(value) ? value.join(',') : String(value);
}

function showProviders(text: string): string {
  const providers = JSON.parse(text) as readonly { readonly id: string; readonly issuer: string }[];
  return providers.map(({ id, issuer }) => `${id} (${issuer})`).join(', ');
}

const groups = [
  [
    'Data and storage',
    [
      'dataDir',
      'database',
      'databaseTimezone',
      'databaseColumnTimezones',
      'schemaSeconds',
      'environment',
      'storageUrl',
      'sqlite',
      'secret',
      'redisUrl',
    ],
  ],
  [
    'Addresses',
    [
      ...([
        'host',
        'port',
        'publicUrl',
        'openaiAppsChallenge',
        'basePath',
        'consolePath',
        'prefix',
        'apiPath',
      ] as const),
      ...(['trustedProxies', 'allowedHosts', 'allowedOrigins', 'agentOrigins'] as const),
    ],
  ],
  ['Brand', ['brandName', 'brandLogo', 'brandColor']],
  [
    'Signing in',
    [
      ...(['ssoIssuer', 'ssoClientId', 'ssoClientSecret', 'ssoName', 'ssoScopes', 'ssoEmailClaim'] as const),
      ...([
        'ssoVerifiedEmail',
        'ssoDomains',
        'ssoMapping',
        'ssoProviders',
        'ssoPasswords',
        'linkUsers',
        'signInAttempts',
        'secondFactor',
      ] as const),
      ...(['sessionSeconds', 'consoleIdleSeconds', 'consoleSessionSeconds', 'agentSessionSeconds'] as const),
      ...(['invitationSeconds', 'resetSeconds', 'adminEmail', 'adminPassword'] as const),
    ],
  ],
  [
    'Assistants that connect',
    [
      ...(['accessTokenSeconds', 'refreshTokenSeconds', 'refreshGraceSeconds', 'authorizationCodeSeconds'] as const),
      ...(['interactionSeconds', 'deviceCodeSeconds', 'dynamicRegistration', 'registrationsPerHour'] as const),
      ...(['unusedClientSeconds', 'idleClientSeconds', 'clientsMost', 'redirectDomains'] as const),
      ...(['redirectDeniedDomains', 'clientMetadataDocuments', 'clientMetadataDomains'] as const),
      'clientMetadataDeniedDomains',
    ],
  ],
  [
    'Tools and answers',
    [
      ...(['enabledTools', 'outputSchemas', 'pageSize', 'pageSizeLimit', 'answerTokens', 'fileLimitBytes'] as const),
      ...([
        'approvalSeconds',
        'approvalUseSeconds',
        'approvalExecution',
        'webhookHosts',
        'notifyUrl',
        'notifySecret',
        'mailUrl',
        'mailFrom',
        'remoteHosts',
        'querySeconds',
        'queriesAtOnce',
        'callSeconds',
        'mcpToken',
      ] as const),
    ],
  ],
  [
    'Limits',
    [
      ...(['requestsPerMinute', 'apiPerMinute', 'apiPerHour', 'apiPerDay', 'aiPerMinute'] as const),
      ...(['requestSeconds', 'bodyLimitBytes', 'jsonDepthLimit'] as const),
    ],
  ],
  ['Workflows', ['workflows', 'workflowRunsAtOnce', 'webhookPerMinute']],
  ['Logs and metrics', ['activityDays', 'adminLogDays', 'logLevel', 'metricsPort', 'metricsHost']],
  ['Start and stop', ['drainSeconds', 'shutdownSeconds']],
  ['Other servers', ['serverUrl', 'envSecret', 'platformDoor', 'platformPath', 'cloud']],
] as const satisfies Groups;

type Groups = readonly (readonly [title: string, names: readonly SettingName[]])[];
/** The settings missing from `groups`. Add each new setting to a group. */
type Ungrouped = Exclude<SettingName, (typeof groups)[number][1][number]>;

/** Contains every setting, in the order of the settings page. */
export const settingGroups: [Ungrouped] extends [never] ? Groups : Ungrouped = groups;
