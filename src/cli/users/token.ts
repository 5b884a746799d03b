// `portico token`: manages application tokens. Only the token itself goes to standard output, for scripts. Messages go
// to standard error.
import { systemClock } from '../../core/clock.ts';
import { hasSso, ssoProvidersOf } from '../../core/config/sso.ts';
import type { Config } from '../../core/config.ts';
import { fail } from '../../core/errors.ts';
import { withStore } from '../storage.ts';
import { alignColumns, createPaint } from '../terminal.ts';

export interface TokenOptions {
  readonly user: string;
  readonly name: string;
  /** Comma-separated. */
  readonly scopes: string;
  /** Such as `90d`, `12h` or `never`. */
  readonly expires: string;
}

const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000 };

export async function createToken(config: Config, options: TokenOptions): Promise<void> {
  refuseUnderSso(config);
  const expiresAt = readExpiry(options.expires, systemClock.now());
  await withStore(config, async (store) => {
    const user = await store.identity.findUserByEmail(options.user);
    if (!user) fail('INVALID_ARGUMENT', { argument: '--user', problem: `no user has the address '${options.user}'.` });
    const scopes = options.scopes.split(',').map((scope) => scope.trim());
    const { token, secret } = await store.tokens.create({
      userId: user.id,
      name: options.name,
      scopes,
      expiresAt,
    });
    const until = token.expiresAt === null ? 'until it is revoked' : `until ${showTime(token.expiresAt)}`;
    process.stderr.write(
      `Token ${token.id}, '${token.name}', of ${user.email}, for ${token.scopes.join(', ')}, ${until}. It is shown only once:\n`,
    );
    process.stdout.write(`${secret}\n`);
  });
}

export async function listTokens(config: Config): Promise<void> {
  await withStore(config, async (store) => {
    const tokens = await store.tokens.list();
    if (tokens.length === 0) return printLine("There is no token yet: 'portico token create' creates one.");
    const now = systemClock.now();
    const rows = tokens.map(({ id, name, email, scopes, createdAt, lastUsedAt, expiresAt }) => [
      String(id),
      name,
      email,
      scopes.join(','),
      showTime(createdAt),
      lastUsedAt === null ? 'never' : showTime(lastUsedAt),
      expiresAt === null ? 'never' : `${showTime(expiresAt)}${expiresAt > now ? '' : ' (expired)'}`,
    ]);
    const heads = ['ID', 'NAME', 'USER', 'SCOPES', 'MADE', 'LAST USED', 'EXPIRES'];
    const [first, ...lines] = alignColumns([heads, ...rows]);
    printLine(createPaint(process.stdout)('dim', first!));
    for (const line of lines) printLine(line);
  });
}

export async function revokeToken(config: Config, id: string): Promise<void> {
  await withStore(config, async (store) => {
    const revoked = /^\d{1,9}$/.test(id) ? await store.tokens.revoke(Number(id)) : undefined;
    if (!revoked) {
      const problem = `there is no token '${id}'. 'portico token list' shows the ids.`;
      fail('INVALID_ARGUMENT', { argument: 'id', problem });
    }
    printLine(`Token ${revoked.id}, '${revoked.name}', of ${revoked.email} is revoked: its access ends immediately.`);
  });
}

/** With single sign-on, a token is only valid if it was created in a session of that sign-in. */
function refuseUnderSso(config: Config): void {
  if (!hasSso(config)) return;
  const issuers = ssoProvidersOf(config).map(({ issuer }) => issuer);
  fail('CONFIGURATION', {
    problem: `Users sign in through ${issuers.join(' or ')}, so a token must be created in such a session. Sign in to the console and create it on the page Tokens.`,
  });
}

function readExpiry(text: string, now: number): number | null {
  if (text === 'never') return null;
  const [, count, unit] = /^(\d{1,5})([hd])$/.exec(text) ?? [];
  if (!count || !unit || Number(count) === 0) {
    fail('INVALID_ARGUMENT', {
      argument: '--expires',
      problem: `expected days as 90d, hours as 12h, or never, got '${text}'.`,
    });
  }
  return now + Number(count) * unitMs[unit]!;
}

const showTime = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}
