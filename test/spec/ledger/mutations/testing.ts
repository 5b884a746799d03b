import type { Points } from '../mutations.ts';

/** Behaviour 2.9 and 4.7: the tools for testing an agent. */
export const testing: Points = {
  'src/testing/options.ts': {
    '2.9 · agentForestEnvSecret': ["envSecret: secret('Env'),", "envSecret: 'another',"],
    '2.9 · agentForestAuthSecret': ["authSecret: secret('Auth'),", "authSecret: 'another',"],
    '2.9 · agentUrl': ["agentUrl: url.origin + (path === '' ? defaultPrefix : path),", 'agentUrl: url.origin + path,'],
    '2.9 · serverUrl': ["serverUrl: options.serverUrl.replace(/\\/+$/, ''),", "serverUrl: 'http://127.0.0.1:9',"],
    '2.9 · agentSchemaPath': ['schemaPath: options.agentSchemaPath,', "schemaPath: 'package.json',"],
  },
  'src/testing/agent-client.ts': {
    '4.7 · createAgentTestClient': [
      'collection: (name) => createCollectionClient({ connection, schema, timezone }, name) as never,',
      'collection: () => ({}) as never,',
    ],
  },
  'src/server/agent/options.ts': {
    '4.7 · workflow': ['settingOptions = { logLevel, serverUrl,', 'settingOptions = { logLevel, serverUrl: undefined,'],
  },
};
