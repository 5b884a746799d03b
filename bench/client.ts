// An OAuth client for the benchmarks: registers, signs in through the real pages and exchanges the code.
import { createHash, randomBytes } from 'node:crypto';
import { type Account, type Browser, signIn } from '../test/oauth/flow.ts';
import { account } from './account.ts';

const redirectUri = 'http://127.0.0.1:9/callback';

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

export async function register(address: string): Promise<string> {
  const answer = await post(`${address}/oauth/register`, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'Benchmark',
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
    }),
  });
  return answer.client_id as string;
}

/** Authorization request, sign-in page, consent page, code and token, as a browser and a client do it. */
export async function obtainTokens(
  address: string,
  clientId: string,
  as: Account = account,
  browser?: Browser,
): Promise<Tokens> {
  const verifier = randomBytes(32).toString('base64url');
  const url = new URL(`${address}/oauth/authorize`);
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    resource: `${address}/mcp`,
    scope: 'mcp:read mcp:write',
    state: 'bench',
  }).toString();
  const back = await signIn(url, as, browser);
  return token(address, {
    grant_type: 'authorization_code',
    code: back.searchParams.get('code') ?? '',
    redirect_uri: redirectUri,
    client_id: clientId,
    code_verifier: verifier,
  });
}

export function refresh(address: string, clientId: string, refreshToken: string): Promise<Tokens> {
  return token(address, { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId });
}

async function token(address: string, form: Record<string, string>): Promise<Tokens> {
  return (await post(`${address}/oauth/token`, { body: new URLSearchParams(form) })) as unknown as Tokens;
}

async function post(url: string, init: RequestInit): Promise<Record<string, unknown>> {
  const response = await fetch(url, { method: 'POST', ...init });
  const body = (await response.json()) as Record<string, unknown>;
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${JSON.stringify(body)}`);
  return body;
}
