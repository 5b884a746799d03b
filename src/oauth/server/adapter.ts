// Stores the models of oidc-provider. Secrets that clients hold are stored as hashes, and never in the payload.
// Consuming is conditional: of two requests with the same code or token, exactly one succeeds.
//
// Refresh tokens rotate, and a response can get lost. A consumed token is therefore accepted again for a short time,
// until one of its successors is used. A client that lost the response has no successor. Once a successor is used, any
// further use of the old token means that it was copied. The same is true if two successors of one token are used. In
// both cases the whole family is revoked (RFC 9700 section 4.14.2).
import type { Adapter, AdapterFactory, AdapterPayload, errors as oidcErrors } from 'oidc-provider';
import type { Clock } from '../../core/clock.ts';
import { hashToken } from '../../core/secret.ts';
import type { OAuthRow, OAuthRows } from '../../store/oauth/types.ts';
import type { UserCodes } from '../device/user-codes.ts';

interface AdapterOptions {
  readonly rows: OAuthRows;
  readonly clock: Pick<Clock, 'now'>;
  readonly refreshGraceSeconds: number;
  readonly userCodes: UserCodes;
  readonly errors: typeof oidcErrors;
  readonly onRevoke: (grantId: string) => void;
}

/**
 * A device code is also looked up by the user code, and then its own value is unknown. In that case its id is its hash
 * with this prefix, which no code of ours starts with. Clients cannot use such an id: a `device_code` with this prefix
 * is rejected (oauth/device/endpoint.ts).
 */
export const HASH_PREFIX = '~';
/**
 * Device codes stay in the store after they expire, to return `expired_token` to a client that asks late (RFC 8628
 * section 3.5).
 */
const DEVICE_CODE_RETENTION_MS = 600_000;

const hashedModels = new Set([
  'DeviceCode',
  'AccessToken',
  'AuthorizationCode',
  'RefreshToken',
  'RegistrationAccessToken',
  'PushedAuthorizationRequest',
]);

export function createAdapterFactory(options: AdapterOptions): AdapterFactory {
  const { rows, clock, refreshGraceSeconds, errors, userCodes } = options;
  const nowSeconds = () => Math.floor(clock.now() / 1000);

  const isInGracePeriod = async (row: OAuthRow): Promise<boolean> =>
    row.model === 'RefreshToken' &&
    row.consumedAt !== undefined &&
    row.grantId !== undefined &&
    nowSeconds() - row.consumedAt < refreshGraceSeconds &&
    !(await rows.hasConsumedSuccessor(row.grantId, Number(row.payload.rotations ?? 0)));

  const hasConsumedSibling = (grantId: string, { id, payload }: OAuthRow): Promise<boolean> =>
    rows.hasConsumedSibling(grantId, Number(payload.rotations ?? 0), id);

  const revoke = async (grantId: string): Promise<void> => {
    await rows.revokeGrant(grantId);
    options.onRevoke(grantId);
  };

  return (model: string): Adapter => {
    const key = (id: string): string => {
      if (model === 'DeviceCode' && id.startsWith(HASH_PREFIX)) return id.slice(HASH_PREFIX.length);
      return hashedModels.has(model) ? hashToken(id) : id;
    };
    const retentionMs = model === 'DeviceCode' ? DEVICE_CODE_RETENTION_MS : 0;

    const toPayload = (row: OAuthRow, id?: string, consumed = row.consumedAt): AdapterPayload => ({
      ...row.payload,
      ...(typeof row.payload.userCode === 'string' && { userCode: userCodes.open(row.payload.userCode) }),
      ...(id !== undefined && hashedModels.has(model) ? { jti: id } : {}),
      ...(consumed ? { consumed } : {}),
    });

    return {
      async upsert(id, payload, expiresIn) {
        const expiresAt = expiresIn ? clock.now() + expiresIn * 1000 + retentionMs : undefined;
        await rows.upsert(toRow(model, key(id), payload, expiresAt, userCodes));
      },
      async find(id) {
        const row = await rows.find(model, key(id));
        if (!row) return undefined;
        return toPayload(row, id, (await isInGracePeriod(row)) ? 0 : row.consumedAt);
      },
      async findByUid(uid) {
        const row = await rows.findByUid(model, uid);
        return row && toPayload(row);
      },
      async findByUserCode(userCode) {
        for (const uid of userCodes.lookupHashes(userCode)) {
          const row = await rows.findByUid(model, uid);
          if (row) return toPayload(row, HASH_PREFIX + row.id);
        }
        return undefined;
      },
      async consume(id) {
        const isFirst = await rows.consume(model, key(id), nowSeconds());
        if (isFirst && model !== 'RefreshToken') return;
        const row = await rows.find(model, key(id));
        // RFC 9700 section 4.14.2: check after consuming, so at least one of two concurrent requests sees the other.
        if (isFirst && row?.grantId && (await hasConsumedSibling(row.grantId, row))) {
          await revoke(row.grantId);
          throw new errors.InvalidGrant(`${model} was already used`);
        }
        if (isFirst) return;
        if (row && (await isInGracePeriod(row))) return;
        // RFC 9126 section 2.2: a request_uri can be used once.
        if (model === 'PushedAuthorizationRequest') throw new errors.InvalidRequestUri('request_uri was already used');
        // RFC 6749 section 4.1.2: a code used twice is rejected and its tokens are revoked, also in a race.
        if (model === 'AuthorizationCode' && row?.grantId) await revoke(row.grantId);
        throw new errors.InvalidGrant(`${model} was already used`);
      },
      destroy: (id) => rows.destroy(model, key(id)),
      async revokeByGrantId(grantId) {
        // The provider calls this for each model in turn; the store revokes all models of the grant at once.
        if (model !== 'AccessToken') return;
        await revoke(grantId);
      },
    };
  };
}

function toRow(
  model: string,
  id: string,
  payload: AdapterPayload,
  expiresAt: number | undefined,
  userCodes: UserCodes,
): OAuthRow {
  const { jti, ...rest } = payload;
  const storedPayload: Record<string, unknown> = hashedModels.has(model) ? rest : payload;
  // A grant has its own id as grantId, so revoking it also deletes its own row.
  const grantId = model === 'Grant' ? id : payload.grantId;
  // Client secrets are passwords: only their hash is stored.
  const secret = model === 'Client' && typeof payload.client_secret === 'string' ? payload.client_secret : undefined;
  const clientId = payload.clientId ?? payload.client_id;
  const { userCode } = payload;
  // Device codes have a second lookup key, from the user code.
  const uid = userCode === undefined ? payload.uid : userCodes.lookupHashes(userCode)[0];
  return {
    model,
    id,
    payload: {
      ...storedPayload,
      ...(secret !== undefined && { client_secret: hashToken(secret) }),
      ...(userCode !== undefined && { userCode: userCodes.seal(userCode) }),
    },
    ...(grantId === undefined ? {} : { grantId }),
    ...(uid === undefined ? {} : { uid }),
    ...(payload.accountId === undefined ? {} : { accountId: payload.accountId }),
    ...(typeof clientId === 'string' ? { clientId } : {}),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}
