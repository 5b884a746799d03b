// Consent for a terminal that asks with a code (RFC 8628 section 3.3): always asked for, never remembered, since anything
// can call itself the command line. What is allowed is one scope of one resource.
import type Provider from 'oidc-provider';
import { mayCustomize } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import type { User } from '../store/identity-types.ts';
import type { Store } from '../store/store.ts';
import { terminal } from './clients.ts';
import { unlimited } from './connection.ts';
import { saveGrant } from './consent.ts';
import type { DeviceInfo } from './device-flow.ts';
import { deviceConsentPage } from './device-view.ts';
import type { Note, Step } from './interaction.ts';
import { sendPage } from './page.ts';
import type { Paths } from './paths.ts';
import { cloudScope, offlineAccess } from './scopes.ts';

export interface DeviceConsent {
  show(step: Step, user: User): Promise<void>;
  /** Answers the id of the grant; undefined when the page was shown again, since the user may not. */
  allow(step: Step, user: User): Promise<string | undefined>;
  /** Gives the code back to be typed by somebody else. Answers where that is done. */
  release(step: Step): Promise<string>;
}

export interface DeviceConsentParts {
  readonly provider: Provider;
  readonly store: Pick<Store, 'identity' | 'connections'>;
  readonly paths: Pick<Paths, 'url'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Of the command line. */
  readonly resource: string;
  readonly note: Note;
}

const minuteMs = 60_000;

/** As a terminal shows it. */
const written = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;

export function createDeviceConsent(parts: DeviceConsentParts): DeviceConsent {
  const { provider, store, paths, clock, resource, note } = parts;
  const codeOf = async (step: Step) => provider.DeviceCode.find(`${step.details.deviceCode}`);

  const show = async (step: Step, user: User): Promise<void> => {
    const code = await codeOf(step);
    const info = code?.deviceInfo as unknown as DeviceInfo | undefined;
    const isEntitled = mayCustomize(user.level);
    const page = deviceConsentPage({
      place: await store.identity.place(),
      user: { name: `${user.firstName} ${user.lastName}`.trim(), email: user.email, team: user.team, role: user.role },
      code: written(`${code?.userCode ?? ''}`),
      info: { address: `${info?.address ?? 'an unknown address'}`, askedAt: info?.askedAt ?? 0 },
      minutes: Math.floor((clock.now() - (info?.askedAt ?? 0)) / minuteMs),
      isEntitled,
      action: step.action,
      csrf: step.csrf,
    });
    sendPage(step.res, isEntitled ? 200 : 403, page);
  };

  return {
    show,
    async allow(step, user) {
      // Least privilege (OWASP ASVS 4.1.3): a token that would open nothing is not given; the entrance asks again.
      if (!mayCustomize(user.level)) {
        note(step, 'device.not-entitled', user.id);
        await show(step, user);
        return undefined;
      }
      const grantId = await saveGrant(provider, clock, {
        accountId: `${user.id}`,
        clientId: step.clientId,
        resource,
        granted: [cloudScope],
        refused: [],
        offline: `${step.details.params.scope}`.split(' ').includes(offlineAccess),
        connection: { clientName: step.client.name, returnsTo: terminal, limits: unlimited },
      });
      await store.connections.decide({
        userId: user.id,
        clientId: step.clientId,
        clientName: step.client.name,
        asked: [cloudScope],
        scopes: [cloudScope],
        choice: {},
        endsAt: null,
        told: { clientId: step.clientId, scopes: [cloudScope] },
      });
      note(step, 'consent.allowed', user.id, cloudScope);
      return grantId;
    },
    async release(step) {
      const code = await codeOf(step);
      if (!code) return paths.url('device');
      Object.assign(code, { inFlight: undefined });
      await code.save();
      return `${paths.url('device')}?user_code=${written(`${code.userCode}`)}`;
    },
  };
}
