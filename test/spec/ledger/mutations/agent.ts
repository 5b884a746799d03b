// Mutations for the rows of 2.1, 2.2, 4.1, 5 and 7.
import type { Points } from '../mutations.ts';

export const agent: Points = {
  'src/server/agent/options.ts': {
    '2.1 · authSecret': ['authSecret: secret,', 'authSecret: { ...secret, required: undefined as never },'],
    '5 · authSecret': ['authSecret: secret,', 'authSecret: { ...secret, required: undefined as never },'],
    '5 · envSecret': ['envSecret: secret,', 'envSecret: { ...secret, required: undefined as never },'],
    '2.1 · logger': ['logger: options.logger ?? null', 'logger: null'],
    '2.1 · loggerLevel': [
      'const settingOptions = { logLevel, serverUrl',
      'const settingOptions = { logLevel: undefined, serverUrl',
    ],
    '2.1 · prefix': ['prefix, consolePath, apiPath };', 'prefix: undefined, consolePath, apiPath };'],
    '2.1 · schemaPath': ['schemaPath: resolve(schemaPath)', "schemaPath: resolve(schemaPath + '.other')"],
    '2.1 · typingsPath': ['options.typingsPath === undefined ? null', 'true ? null'],
    '2.1 · typingsMaxDepth': ['options.typingsMaxDepth ?? 5', '5'],
    '2.1 · useUnsafeActionEndpoint': ['options.useUnsafeActionEndpoint ?? false', 'false'],
  },
  'src/agent/ai/provider.ts': {
    '5 · apiKey': ['  apiKey: {\n    required: true,', '  apiKey: {\n    required: undefined as never,'],
  },
  'src/server/agent/files.ts': {
    '2.1 · isProduction': ['if (options.isProduction) {', 'if (false) {'],
  },
  'src/server/route.ts': {
    '7 · namespaces': ["else refuse(res, 'NOT_FOUND', { path });", 'else next?.();'],
  },
  'src/server/modules.ts': {
    '2.1 · envSecret': ['if (config.serverUrl === null) await', 'if (false) await'],
  },
  'src/server/create-server.ts': {
    '4.1 · restart': ['engine.catalogue?.onReload(() => mcp?.endpoint.notifyChange());', ''],
  },
  'src/cli/cloud/commands.ts': {
    '4.6 · bootstrap': ['renameSync(temporaryFolder, path);', ''],
    '4.6 · update-typings': ['const customize = await loadCustomization(folder);', 'const customize = () => {};'],
    '4.6 · login': ['(await findTokens(server, true))', '(await findTokens(server))'],
  },
  'src/testing/sandbox.ts': {
    '4.7 · createForestServerSandbox': [
      'await listen(server, { port, host, settings });',
      'await listen(server, { port: 0, host, settings });',
    ],
  },
  'src/agent/agent.ts': {
    '2.2 · factory': ['() => factory({ observe, clock })', '() => factory({} as never)'],
    '4.1 · addDataSource': ['this.#factories.push({ factory, at, ...(options && { options }) });', ''],
    '4.1 · addChart': ["this.#charts.push({ name, at, definition: definition as ChartEntry['definition'] });", ''],
    '4.1 · customizeCollection': [
      'return callback(new CollectionCustomizer(name, recording) as unknown as CustomizerOf<S, C>);',
      '',
    ],
    '4.1 · removeCollection': ['for (const collection of names) this.#removed.push({ collection, at });', ''],
    '4.1 · use': ['for (const name of collections)', 'for (const name of collections.slice(0, 1))'],
    '4.1 · addAi': ['ai: this.#ai?.provider ?? null', 'ai: null'],
    '7 · addAi': ['if (this.#ai) failMisuse(', 'if (false) failMisuse('],
  },
  'src/agent/model/chosen-tables.ts': {
    '2.2 · include': ['(!include || include.includes(name))', 'true'],
    '2.2 · exclude': ['!exclude.includes(name)', 'true'],
    '2.2 · rename': ['(renames.get(table.name) ?? table.name)', 'table.name'],
  },
  'src/agent/live-engine.ts': {
    '4.1 · restart': ['void running.live.swap(next.engine,', 'void running.live.swap(previous.engine,'],
  },
  'src/server/agent/create-agent.ts': {
    '4.1 · createAgent': [
      'return new Agent<S>(checkAgentOptions(options, callSite(createAgent)));',
      'return new Agent(options as never);',
    ],
    '4.1 · start': ["if (this.#state !== 'new')", 'if (false)'],
    '4.1 · stop': ['else await running?.live.engine.close();', ''],
    '4.1 · updateTypesOnFileSystem': [
      'checkTypingsOptions(typingsPath, typingsMaxDepth, callSite(this.updateTypesOnFileSystem));',
      '',
    ],
    '9 · generateSchemaOnly': [
      'async generateSchemaOnly(): Promise<void>',
      'async generateSchemaLater(): Promise<void>',
    ],
    '4.1 · generateSchemaOnly': ['writeSchema(opened, this.#fileOptions());', ''],
  },
  'src/agent/actions/catalogue.ts': {
    '7 · useUnsafeActionEndpoint': ['useUnsafeActionEndpoint && toSlug(other.name) === toSlug(name)', 'false'],
  },
  'src/core/config/checks.ts': {
    '7 · basePath': ["path !== '' && publicUrl && new URL(publicUrl).pathname !== '/'", 'false'],
  },
};
