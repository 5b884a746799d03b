// Mutations at edges of the decisions about the start, rights and OAuth that the tests of their rows did not detect at
// first.
import type { Points } from '../mutations.ts';

export const edgesOfDecisionsA: Points = {
  'src/cli/doctor.ts': {
    'decisions · start · doctor shows settings, secrets masked': [
      ["if (answer.status === 200 && answer.body?.status === 'ok')", 'if (answer.status === 200)'],
      ['Math.abs(secondsAhead) > MAX_CLOCK_SECONDS', 'secondsAhead > MAX_CLOCK_SECONDS'],
    ],
  },
  'src/cli/environment.ts': {
    'decisions · start · flag, environment, config file, default': [
      ["{ ...readDotenv('.env'), ...process.env }", "{ ...process.env, ...readDotenv('.env') }"],
      ["if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return {};", 'return {};'],
    ],
  },
  'src/cli/roles/commands.ts': {
    'decisions · rights · roles pull and push': [
      ['user[of] === path[0] && !user.disabled', 'user[of] === path[0]'],
      ['if (agent !== undefined) throw error;', ''],
      ["if (options.check) return printLine('This was only a check: no changes were made.');", ''],
      ['if (!options.yes && !(await confirm(file)))', 'if (options.yes && !(await confirm(file)))'],
      ['unread !== undefined && !options.allowUnknown && mayMisspell', 'unread !== undefined && !options.allowUnknown'],
    ],
  },
  'src/cli/served.ts': {
    'decisions · start · files for their owner only': ['{ recursive: true, mode: 0o700 }', '{ recursive: true }'],
    'decisions · start · --database serves another database': ['(config.database === null ? (await loadDemoShop()).customizeDemo : undefined)', '(await loadDemoShop()).customizeDemo'],
  },
  'src/cli/start/command.ts': {
    'decisions · start · wide binding without https warns': ['if (isUnprotected(config)) warn(unprotectedWarning(config));', ''],
    'decisions · start · a second start keeps data and user': [
      ["config.origins.adminEmail === 'flag' && !isNew", '!isNew'],
      ['adminEmail.toLowerCase() !== email', 'adminEmail !== email'],
    ],
  },
  'src/cli/start/first-user.ts': {
    'decisions · start · an empty folder becomes a server': [
      ['isTerminal && config.adminPassword === null', 'config.adminPassword === null'],
      ['const other = await findExistingUser(identity);\n    if (other) return other;', ''],
    ],
    'decisions · start · a second start keeps data and user': [
      ["users.find(({ level, disabled }) => level === 'admin' && !disabled) ?? users[0]", 'users[0]'],
      ["level === 'admin' && !disabled", "level === 'admin'"],
      ['hasPassword || hasIdentity', 'hasPassword'],
    ],
  },
  'src/cli/start/signals.ts': {
    'decisions · start · an empty folder becomes a server': [
      ['if (clock.monotonic() - firstAt > SAME_SIGNAL_MS) process.exit(1);', 'process.exit(1);'],
      ["process.on('SIGINT', onSignal);", ''],
    ],
  },
  'src/cli/start/welcome.ts': {
    'decisions · start · an empty folder becomes a server': ['(shown only once)', ''],
  },
  'src/core/config.ts': {
    'decisions · start · flag, environment, config file, default': [
      ["if (envText !== undefined && envText !== '') return", 'if (envText !== undefined) return'],
      ["'utf8').trim()", "'utf8')"],
      ['const got = row.secret ?', 'const got = false ?'],
    ],
  },
  'src/core/config/findings.ts': {
    'decisions · start · doctor shows settings, secrets masked': [
      ['if (metricsPort === null || isLoopback(metricsHost))', 'if (isLoopback(metricsHost))'],
      ['if (secret !== null || !isServer(storageUrl))', 'if (secret !== null || storageUrl === null)'],
      ["return [...of('wrong'), ...of('note')];", "return [...of('note'), ...of('wrong')];"],
    ],
  },
  'src/core/config/given.ts': {
    'decisions · start · flag, environment, config file, default': ['if (value === undefined) continue;', ''],
  },
  'src/core/config/layers.ts': {
    'decisions · start · code over environment': [
      ["if (row.names === 'allowed' && code === null) return layer;", ''],
      ['const names = new Set(other.map(lower));\n  const both = one.filter((name) => names.has(lower(name)));', 'const names = new Set(other);\n  const both = one.filter((name) => names.has(name));'],
    ],
  },
  'src/core/config/masking.ts': {
    'decisions · start · doctor shows settings, secrets masked': ["if (/^sqlite:/i.test(value)) return value.replace(/\\?.*$/s, '?***');", 'if (/^sqlite:/i.test(value)) return value;'],
  },
  'src/core/sqlite.ts': {
    'decisions · start · one environment with SQLite without a compiler': ["new driver(':memory:').close();", ''],
  },
  'src/oauth/consent/connection.ts': {
    'decisions · OAuth · consent narrows: read-only, collections, an expiry': ["typeof endsAt === 'number' ? endsAt : 0", "typeof endsAt === 'number' ? endsAt : null"],
  },
  'src/oauth/consent/limits.ts': {
    'decisions · OAuth · consent narrows: read-only, collections, an expiry': [
      ['!(decidedAt + DECISION_TTL_MS > now) ||', ''],
      ['readOnly: stored.readOnly, collections', 'readOnly: false, collections'],
    ],
  },
  'src/oauth/tokens/access-token.ts': {
    'decisions · OAuth · tokens are for one audience': ['|| grant.payload.clientId !== clientId', ''],
  },
  'src/oauth/tokens/dpop.ts': {
    'decisions · OAuth · DPoP': [
      ['token.thumbprint}.', "''}."],
      ['const CLOCK_MARGIN_SECONDS = 60;', 'const CLOCK_MARGIN_SECONDS = -120;'],
    ],
  },
  'src/server/environment.ts': {
    'decisions · start · one process serves one environment': ['environmentId === 1 ? generatedSecrets :', 'environmentId ? generatedSecrets :'],
  },
  'src/store/keys.ts': {
    'decisions · OAuth · keys rotate, old ones verify': [
      ['makers[plainPurpose(purpose)] ?? randomToken', 'makers[purpose] ?? randomToken'],
      ["await logChange(trx, { at: clock.now(), action: 'key.retire',", "if (!trx) await logChange(trx, { at: clock.now(), action: 'key.retire',"],
    ],
  },
  'src/store/oauth/connections.ts': {
    'decisions · OAuth · connected apps': [
      ["either.whereNull('expires_at').orWhere('expires_at', '>', clock.now())", "either.whereNull('expires_at').orWhere('expires_at', '>', 0)"],
      ["tie.where(ties).where('id_hash', '>', hash)", "tie.where(ties).where('id_hash', '<', hash)"],
      [".where((either) => either.whereNull('used_at').orWhere('used_at', '<', at))", ''],
      ["await trx('oauth_store').where({ client_id: clientId }).whereNot({ model: 'Client' }).delete();", ''],
    ],
  },
}; // biome-ignore format: a table
