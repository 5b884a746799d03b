// What a client of 2026-07-28 carries from the question to the repeat of its call: sealed, so that it can be neither read
// nor made, and bound to who asks, to the call and to what the call would find. It comes back as anybody's word (MCP
// 2026-07-28, multi round-trip requests, server requirements): whatever does not fit is refused, and it is good once.
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import { decrypt, encrypt, hashToken, randomToken } from '../../core/secret.ts';
import type { ApprovalCall } from '../../store/approval-types.ts';
import type { Keys } from '../../store/store.ts';

const PURPOSE = 'approval state';

interface Carried {
  readonly id: string;
  readonly call: string;
  readonly found: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface ApprovalStates {
  seal(call: ApprovalCall): Promise<string>;
  /** Its id, and whether the call would still find the same. INVALID_APPROVAL for a state that is not good for this call. */
  open(state: string, call: ApprovalCall): Promise<{ readonly id: string; readonly unchanged: boolean }>;
}

export function createApprovalStates(
  keys: Keys,
  clock: Clock,
  config: { readonly approvalUseSeconds: number },
): ApprovalStates {
  const all = () => keys.of(PURPOSE, () => randomToken());

  const read = async (state: string): Promise<Carried> => {
    const dot = state.indexOf('.');
    const key = (await all()).find(({ id }) => id === state.slice(0, dot)) ?? refuse();
    try {
      return JSON.parse(decrypt(state.slice(dot + 1), key.value)) as Carried;
    } catch {
      return refuse();
    }
  };

  return {
    async seal(call) {
      const [newest] = await all();
      const expiresAt = clock.now() + config.approvalUseSeconds * 1000;
      const carried: Carried = { id: randomToken(), call: callHash(call), found: hashToken(call.found), expiresAt };
      return `${newest!.id}.${encrypt(JSON.stringify(carried), newest!.value)}`;
    },
    async open(state, call) {
      const { id, expiresAt, ...bound } = await read(state);
      // MCP 2026-07-28, multi round-trip requests: bound to the principal and the request, and for a while only.
      if (bound.call !== callHash(call) || expiresAt <= clock.now()) refuse();
      return { id, unchanged: bound.found === hashToken(call.found) };
    },
  };
}

const callHash = ({ userId, clientId, tool, args }: ApprovalCall): string =>
  hashToken(JSON.stringify([userId, clientId, tool, args]));

function refuse(): never {
  return fail('INVALID_APPROVAL', {});
}
