// Keeps what oidc-provider remembers in the store. Secrets that a client holds are kept as hashes, and never in the
// payload; consuming is conditional, so that of two requests with one code or token exactly one wins.
//
// Refresh tokens rotate, and an answer can get lost. A consumed one is therefore taken again for a short while, as long as
// none of its successors was used: whoever lost the answer holds no successor. Once a successor was used, the old token in
// anybody's hand is a copy, and the whole family is revoked (RFC 9700 section 4.14.2).
import type { Adapter, AdapterFactory, AdapterPayload, errors as oidcErrors } from 'oidc-provider';
import type { Clock } from '../core/clock.ts';
import { hashToken } from '../core/secret.ts';
import type { OAuthRow, OAuthRows } from '../store/oauth-types.ts';

export interface AdapterOptions {
  readonly rows: OAuthRows;
  readonly clock: Pick<Clock, 'now'>;
  readonly refreshGraceSeconds: number;
  readonly errors: typeof oidcErrors;
  readonly onRevoke: (grantId: string) => void;
}

/**
 * A device code is found by the code that the person types, too, and then its own is not known: inside it is called by the
 * hash of it, with this mark, which no code of ours begins with. The front lets no client use such a name (device-front.ts).
 */
export const byHash = '~';
/** Longer than it lasts, so that whoever asks too late is told that it has expired (RFC 8628 section 3.5). */
const deviceCodeLingersMs = 600_000;

const hashed = new Set([
  'DeviceCode',
  'AccessToken',
  'AuthorizationCode',
  'RefreshToken',
  'RegistrationAccessToken',
  'PushedAuthorizationRequest',
]);

export function createAdapterFactory(options: AdapterOptions): AdapterFactory {
  const { rows, clock, refreshGraceSeconds, errors } = options;
  const seconds = () => Math.floor(clock.now() / 1000);

  const inGrace = async (row: OAuthRow): Promise<boolean> =>
    row.model === 'RefreshToken' &&
    row.consumedAt !== undefined &&
    row.grantId !== undefined &&
    seconds() - row.consumedAt < refreshGraceSeconds &&
    !(await rows.hasConsumedSuccessor(row.grantId, Number(row.payload.rotations ?? 0)));

  const revoke = async (grantId: string): Promise<void> => {
    await rows.revokeGrant(grantId);
    options.onRevoke(grantId);
  };

  return (model: string): Adapter => {
    const key = (id: string): string => {
      if (model === 'DeviceCode' && id.startsWith(byHash)) return id.slice(byHash.length);
      return hashed.has(model) ? hashToken(id) : id;
    };
    const lingersMs = model === 'DeviceCode' ? deviceCodeLingersMs : 0;

    const toPayload = (row: OAuthRow, id?: string, consumed = row.consumedAt): AdapterPayload => ({
      ...row.payload,
      ...(id !== undefined && hashed.has(model) ? { jti: id } : {}),
      ...(consumed ? { consumed } : {}),
    });

    return {
      async upsert(id, payload, expiresIn) {
        const expiresAt = expiresIn ? clock.now() + expiresIn * 1000 + lingersMs : undefined;
        await rows.upsert(toRow(model, key(id), payload, expiresAt));
      },
      async find(id) {
        const row = await rows.find(model, key(id));
        if (!row) return undefined;
        return toPayload(row, id, (await inGrace(row)) ? 0 : row.consumedAt);
      },
      async findByUid(uid) {
        const row = await rows.findByUid(model, uid);
        return row && toPayload(row);
      },
      async findByUserCode(userCode) {
        const row = await rows.findByUid(model, userCode);
        return row && toPayload(row, byHash + row.id);
      },
      async consume(id) {
        if (await rows.consume(model, key(id), seconds())) return;
        const row = await rows.find(model, key(id));
        if (row && (await inGrace(row))) return;
        // RFC 9126 section 2.2: a request_uri is used once.
        if (model === 'PushedAuthorizationRequest') throw new errors.InvalidRequestUri('request_uri was already used');
        // RFC 6749 section 4.1.2: a code used twice is refused and what was made of it is revoked, also in a race.
        if (model === 'AuthorizationCode' && row?.grantId) await revoke(row.grantId);
        throw new errors.InvalidGrant(`${model} was already used`);
      },
      destroy: (id) => rows.destroy(model, key(id)),
      async revokeByGrantId(grantId) {
        // The provider asks each model in turn; the store revokes the grant in all of them at once.
        if (model !== 'AccessToken') return;
        await revoke(grantId);
      },
    };
  };
}

function toRow(model: string, id: string, payload: AdapterPayload, expiresAt: number | undefined): OAuthRow {
  const { jti, ...rest } = payload;
  const kept: Record<string, unknown> = hashed.has(model) ? rest : payload;
  // A grant belongs to itself, so that revoking it takes its own row along.
  const grantId = model === 'Grant' ? id : payload.grantId;
  // A client's secret is a password: only its hash is kept.
  const secret = model === 'Client' && typeof payload.client_secret === 'string' ? payload.client_secret : undefined;
  const clientId = payload.clientId ?? payload.client_id;
  // What a device code is looked up by, beside itself.
  const uid = model === 'DeviceCode' ? payload.userCode : payload.uid;
  return {
    model,
    id,
    payload: secret === undefined ? kept : { ...kept, client_secret: hashToken(secret) },
    ...(grantId === undefined ? {} : { grantId }),
    ...(uid === undefined ? {} : { uid }),
    ...(payload.accountId === undefined ? {} : { accountId: payload.accountId }),
    ...(typeof clientId === 'string' ? { clientId } : {}),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}
