// The sealed state that a client of 2026-07-28 carries from the approval question to the repeat of its call. The
// client can neither read nor forge it. It is bound to the user, the call and the data that the call would change.
// Returned state is untrusted input (MCP 2026-07-28, multi round-trip requests, server requirements): a mismatch is
// refused, and each state works once.
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import { decrypt, encrypt, hashToken, randomToken } from '../../core/secret.ts';
import type { ApprovalCall } from '../../store/approvals/types.ts';
import type { Keys } from '../../store/store.ts';

const PURPOSE = 'approval state';

interface SealedState {
  readonly id: string;
  readonly call: string;
  readonly found: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

interface ApprovalStates {
  seal(call: ApprovalCall): Promise<string>;
  /**
   * Returns the id of the state, and whether the call would still find the same data. Throws INVALID_APPROVAL for a
   * state that does not belong to this call.
   */
  open(state: string, call: ApprovalCall): Promise<{ readonly id: string; readonly unchanged: boolean }>;
}

export function createApprovalStates(
  keys: Keys,
  clock: Clock,
  config: { readonly approvalUseSeconds: number },
): ApprovalStates {
  const readKeys = () => keys.of(PURPOSE, () => randomToken());

  const read = async (state: string): Promise<SealedState> => {
    const dot = state.indexOf('.');
    const key = (await readKeys()).find(({ id }) => id === state.slice(0, dot)) ?? refuse();
    try {
      return JSON.parse(decrypt(state.slice(dot + 1), key.value)) as SealedState;
    } catch {
      return refuse();
    }
  };

  return {
    async seal(call) {
      const [newest] = await readKeys();
      const expiresAt = clock.now() + config.approvalUseSeconds * 1000;
      const sealed: SealedState = { id: randomToken(), call: callHash(call), found: hashToken(call.found), expiresAt };
      return `${newest!.id}.${encrypt(JSON.stringify(sealed), newest!.value)}`;
    },
    async open(state, call) {
      const { id, expiresAt, ...bound } = await read(state);
      // MCP 2026-07-28, multi round-trip requests: the state is bound to the principal and the request, and it
      // expires.
      if (bound.call !== callHash(call) || expiresAt <= clock.now()) refuse();
      return { id, unchanged: bound.found === hashToken(call.found) };
    },
  };
}

const callHash = ({ userId, clientId, grantId, tokenId, tool, args }: ApprovalCall): string =>
  hashToken(JSON.stringify([userId, clientId, grantId ?? tokenId ?? null, tool, args]));

function refuse(): never {
  return fail('INVALID_APPROVAL', {});
}
