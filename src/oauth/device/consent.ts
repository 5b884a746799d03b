// Consent for a terminal that uses a device code (RFC 8628 section 3.3). The user is always asked, and the decision is
// never reused, because any program can claim to be the command line. The grant has one scope on one resource.
import type Provider from 'oidc-provider';
import { mayCustomize } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import { sendPage } from '../../http/page.ts';
import type { Store } from '../../store/store.ts';
import type { User } from '../../store/users/types.ts';
import { clientLabel } from '../clients/display-name.ts';
import { terminalDestination } from '../clients/normalize.ts';
import { noLimits } from '../consent/connection.ts';
import { saveGrant } from '../consent/consent.ts';
import type { LogEvent, Step } from '../login/interaction-step.ts';
import type { Paths } from '../server/paths.ts';
import { cloudScope, offlineAccess } from '../server/scopes.ts';
import type { DeviceInfo } from './pages.ts';
import { deviceConsentPage } from './pages.ts';

interface DeviceConsent {
  show(step: Step, user: User, problem?: string): Promise<void>;
  /** Returns the id of the grant; undefined if the user is not entitled, and the page is shown again. */
  allow(step: Step, user: User): Promise<string | undefined>;
  /** Makes the code usable again, for another user to enter. Returns the URL of the page for that. */
  release(step: Step): Promise<string>;
}

interface DeviceConsentParts {
  readonly provider: Provider;
  readonly store: Pick<Store, 'identity' | 'connections'>;
  readonly paths: Pick<Paths, 'url'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Resource of the command line. */
  readonly resource: string;
  readonly logEvent: LogEvent;
}

const minuteMs = 60_000;

/** Formats a code as terminals show it. */
const formatCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;

export function createDeviceConsent(parts: DeviceConsentParts): DeviceConsent {
  const { provider, store, paths, clock, resource, logEvent } = parts;
  const codeOf = async (step: Step) => provider.DeviceCode.find(`${step.details.deviceCode}`);

  const show: DeviceConsent['show'] = async (step, user, problem) => {
    const code = await codeOf(step);
    const info = code?.deviceInfo as unknown as DeviceInfo | undefined;
    const isEntitled = mayCustomize(user.level);
    const page = deviceConsentPage({
      environment: await store.identity.place(),
      user: { name: `${user.firstName} ${user.lastName}`.trim(), email: user.email, team: user.team, role: user.role },
      code: formatCode(`${code?.userCode ?? ''}`),
      info: { address: `${info?.address ?? 'an unknown address'}`, askedAt: info?.askedAt ?? 0 },
      minutes: Math.floor((clock.now() - (info?.askedAt ?? 0)) / minuteMs),
      isEntitled,
      problem,
      action: step.action,
      csrf: step.csrf,
    });
    sendPage(step.res, !isEntitled ? 403 : problem === undefined ? 200 : 400, page);
  };

  return {
    show,
    async allow(step, user) {
      // Least privilege (OWASP ASVS 4.1.3): users below the required level get no token. The endpoint that uses it
      // checks the level again.
      if (!mayCustomize(user.level)) {
        logEvent(step, 'device.not-entitled', user.id);
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
        connection: { clientName: step.client.name, returnsTo: terminalDestination, limits: noLimits },
      });
      await store.connections.decide({
        userId: user.id,
        clientId: step.clientId,
        clientName: clientLabel(step.clientId, step.client.name),
        asked: [cloudScope],
        scopes: [cloudScope],
        choice: {},
        endsAt: null,
        told: { clientId: step.clientId, scopes: [cloudScope] },
      });
      logEvent(step, 'consent.allowed', user.id, cloudScope);
      return grantId;
    },
    async release(step) {
      const code = await codeOf(step);
      if (!code) return paths.url('device');
      Object.assign(code, { inFlight: undefined });
      await code.save();
      return `${paths.url('device')}?user_code=${formatCode(`${code.userCode}`)}`;
    },
  };
}
