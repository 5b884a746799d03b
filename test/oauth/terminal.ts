// The terminal's side of device authorization (RFC 8628), over plain HTTP requests.

export interface Asked {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
  readonly expires_in: number;
  readonly interval: number;
}

export const clientId = 'portico-cli';
export const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

export interface Told {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export async function send(url: string, form: Readonly<Record<string, string>>): Promise<Told> {
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(form) });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

export async function ask(issuer: string, more: Readonly<Record<string, string>> = {}): Promise<Asked> {
  const form = { client_id: clientId, scope: 'cloud:read offline_access', ...more };
  const { status, body } = await send(`${issuer}/oauth/device_authorization`, form);
  if (status !== 200) throw new Error(`refused: ${JSON.stringify(body)}`);
  return body as unknown as Asked;
}

export const poll = (issuer: string, deviceCode: string, client = clientId): Promise<Told> =>
  send(`${issuer}/oauth/token`, { grant_type: deviceGrant, device_code: deviceCode, client_id: client });

export const refresh = (issuer: string, token: string): Promise<Told> =>
  send(`${issuer}/oauth/token`, { grant_type: 'refresh_token', refresh_token: token, client_id: clientId });
