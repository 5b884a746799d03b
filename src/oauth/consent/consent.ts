// Consent: the user sees the app and its request and chooses how much to allow. The choice becomes a grant with limits.
// Decisions are stored per user, client and scopes, and prefill the page on the next request. Only a client with a
// metadata document, which its host vouches for, can skip the page. The user must also have started the sign-in.
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Access } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import { sendPage } from '../../http/page.ts';
import type { Store } from '../../store/store.ts';
import type { User } from '../../store/users/types.ts';
import { clientLabel, displayClient } from '../clients/display-name.ts';
import { describeRedirect, isDocumentClient } from '../clients/normalize.ts';
import type { LogEvent, Step } from '../login/interaction-step.ts';
import type { Paths } from '../server/paths.ts';
import { isResourceScope, offlineAccess, type ResourceScope, resourceScopes } from '../server/scopes.ts';
import { connectionProperty, type GrantedConnection, secondsLeft } from './connection.ts';
import { isUserInitiated } from './first-site.ts';
import {
  type ConsentLimits,
  coversScopes,
  describeLimits,
  grantedScopes,
  initialLimits,
  limitsOfDecision,
  parseConsentLimits,
  toLimits,
} from './limits.ts';
import { consentPage } from './page.ts';

/** Returns the names of the collections that these rights can see, in display order. */
export type ListCollections = (access: Access) => readonly string[];

/** Returns the scopes that are useful with these rights. */
export type OfferedScopes = (access: Access) => Promise<ReadonlySet<string>>;

interface ConsentParts {
  readonly provider: Provider;
  readonly store: Store;
  readonly paths: Paths;
  readonly clock: Pick<Clock, 'now'>;
  readonly listCollections: ListCollections;
  readonly offeredScopes: OfferedScopes;
  readonly logEvent: LogEvent;
}

interface Consent {
  show(step: Step, user: User): Promise<void>;
  /** Shows the form again, with the choices so far and the collections that match the search. */
  search(step: Step, user: User, form: URLSearchParams, problem?: string): Promise<void>;
  /** Returns the id of the grant; undefined if the form was incomplete and is shown again. */
  allow(step: Step, user: User, form: URLSearchParams): Promise<string | undefined>;
}

/** State of the form in addition to the choice. */
interface FormState {
  readonly find?: string;
  readonly problem?: string;
}

export function createConsent(parts: ConsentParts): Consent {
  const { provider, store, paths, clock, listCollections, logEvent } = parts;
  const visibleCollections = async (user: User): Promise<readonly string[]> => {
    const access = await store.permissions.accessOf(user.id);
    return access ? listCollections(access) : [];
  };
  const scopesForStep = (step: Step, user: User) => findUsefulScopes(step.details.params.scope, user.id, parts);

  const sendConsentPage = async (
    step: Step,
    user: User,
    limits: ConsentLimits | undefined,
    { find, problem }: FormState = {},
  ) => {
    const [requested, collections, decision] = await Promise.all([
      scopesForStep(step, user),
      visibleCollections(user),
      store.connections.decisionOf(user.id, step.clientId),
    ]);
    const initial = limits ?? initialLimits(decision, requested, collections);
    const allowedBefore = decision ? requested.filter((scope) => decision.scopes.includes(scope)) : [];
    const page = consentPage({
      environment: await store.identity.place(),
      client: step.client,
      destination: describeRedirect(`${step.details.params.redirect_uri}`),
      user: { name: `${user.firstName} ${user.lastName}`.trim(), email: user.email, team: user.team, role: user.role },
      scopes: requested,
      allowedBefore,
      isKnown: decision !== undefined,
      isCovered:
        decision !== undefined &&
        coversScopes(decision, requested, clock.now()) &&
        !requestsConsent(step.details.params.prompt),
      collections,
      limits: initial,
      isResubmitted: limits !== undefined,
      search: find ?? '',
      problem,
      action: step.action,
      csrf: step.csrf,
    });
    sendPage(step.res, problem === undefined ? 200 : 400, page);
  };

  return {
    show: (step, user) => sendConsentPage(step, user, undefined),
    async search(step, user, form, problem) {
      const find = (form.get('find') ?? '').trim().slice(0, 100);
      await sendConsentPage(step, user, parseConsentLimits(form, await visibleCollections(user)), {
        find,
        ...(problem && { problem }),
      });
    },
    async allow(step, user, form) {
      const requested = await scopesForStep(step, user);
      const consentLimits = parseConsentLimits(form, await visibleCollections(user));
      if (consentLimits.collections?.length === 0) {
        await sendConsentPage(step, user, consentLimits, {
          problem: 'Choose at least one collection, or all of them.',
        });
        return undefined;
      }
      const granted = grantedScopes(consentLimits, requested);
      const limits = toLimits(consentLimits, clock.now());
      const earlier = await store.connections.decisionOf(user.id, step.clientId);
      const grantId = await saveGrant(provider, clock, {
        accountId: `${user.id}`,
        clientId: step.clientId,
        resource: paths.resource,
        granted,
        refused: requestedScopes(step.details.params.scope).filter((scope) => !granted.includes(scope)),
        offline: `${step.details.params.scope}`.split(' ').includes(offlineAccess),
        connection: {
          clientName: step.client.name,
          returnsTo: describeRedirect(`${step.details.params.redirect_uri}`),
          limits,
        },
      });
      const description = describeLimits(consentLimits);
      await store.connections.decide({
        userId: user.id,
        clientId: step.clientId,
        clientName: clientLabel(step.clientId, step.client.name),
        asked: requested,
        scopes: granted,
        choice: consentLimits,
        endsAt: limits.endsAt,
        told: { clientId: step.clientId, scopes: granted, ...limits },
      });
      const isStepUp = earlier && granted.some((scope) => !earlier.scopes.includes(scope));
      const detail = [granted.join(' '), description].filter(Boolean).join('; ');
      logEvent(step, isStepUp ? 'consent.stepped-up' : 'consent.allowed', user.id, detail);
      return grantId;
    },
  };
}

interface NewGrant {
  readonly accountId: string;
  readonly clientId: string;
  readonly resource: string;
  readonly granted: readonly string[];
  readonly refused: readonly string[];
  readonly offline: boolean;
  readonly connection: GrantedConnection;
}

export async function saveGrant(provider: Provider, clock: Pick<Clock, 'now'>, newGrant: NewGrant): Promise<string> {
  const grant = createGrant(provider, clock, newGrant);
  return grant.save();
}

function createGrant(provider: Provider, clock: Pick<Clock, 'now'>, newGrant: NewGrant) {
  const { accountId, clientId, resource, granted, refused, offline, connection } = newGrant;
  const seconds = secondsLeft(connection.limits, clock.now());
  // The package's types do not include a lifetime for a single grant.
  const lifetime = Number.isFinite(seconds) ? { expiresIn: seconds } : {};
  const grant = new provider.Grant({ accountId, clientId, ...lifetime });
  Object.assign(grant, { [connectionProperty]: connection });
  grant.addOIDCScope([...granted, ...(offline ? [offlineAccess] : [])].join(' '));
  grant.addResourceScope(resource, granted.join(' '));
  if (refused.length > 0) {
    grant.rejectOIDCScope(refused.join(' '));
    grant.rejectResourceScope(resource, refused.join(' '));
  }
  return grant;
}

/**
 * The requested resource scopes in a fixed order. The first is always granted if the user allows the app; the others
 * are optional.
 */
function requestedScopes(scope: unknown): readonly ResourceScope[] {
  const requested = new Set(`${scope ?? ''}`.split(' ').filter(isResourceScope));
  return resourceScopes.filter((name) => requested.has(name));
}

/** The requested scopes that are useful to this user; all requested scopes if that leaves an empty list. */
async function findUsefulScopes(
  scope: unknown,
  userId: number,
  { store, offeredScopes }: Pick<ConsentParts, 'offeredScopes'> & { readonly store: Pick<Store, 'permissions'> },
): Promise<readonly ResourceScope[]> {
  const requested = requestedScopes(scope);
  const access = await store.permissions.accessOf(userId);
  const offered = access ? await offeredScopes(access) : new Set<string>();
  const useful = requested.filter((name) => offered.has(name));
  return useful.length > 0 ? useful : requested;
}

const requestsConsent = (prompt: unknown): boolean => `${prompt ?? ''}`.split(' ').includes('consent');

/**
 * Each authorization gets its own grant, so revoking one connection does not affect the user's others. If an earlier
 * decision covers the request, the new grant is created without a page. It has the limits of that decision and ends
 * with it. The page is still shown when someone else may be behind the request:
 */
export async function reuseConsent(
  ctx: KoaContextWithOIDC,
  {
    store,
    clock,
    offeredScopes,
  }: Pick<ConsentParts, 'clock' | 'offeredScopes'> & { readonly store: Pick<Store, 'connections' | 'permissions'> },
) {
  const { provider, client, account, result, params } = ctx.oidc;
  const answeredGrantId = result?.consent?.grantId;
  if (answeredGrantId) return provider.Grant.find(answeredGrantId);
  if (!client || !account || requestsConsent(params?.prompt)) return undefined;
  // RFC 8252 section 8.6: any program on a device can impersonate the client. A terminal has no redirect at all.
  if (client.applicationType === 'native') return undefined;
  const returnsTo = describeRedirect(`${params?.redirect_uri}`);
  if (returnsTo.kind !== 'web') return undefined;
  // RFC 7591 section 5: the data of a self-registered client is unverified.
  if (!isDocumentClient(client.clientId)) return undefined;
  // RFC 9700 section 4.16, Fetch Metadata section 2.3: another site must not connect a user without their knowledge.
  if (!isUserInitiated(ctx)) return undefined;
  const resource = Object.keys(ctx.oidc.resourceServers ?? {})[0];
  if (resource === undefined) return undefined;
  const userId = Number(account.accountId);
  const decision = await store.connections.decisionOf(userId, client.clientId);
  if (!decision) return undefined;
  const granted = await findUsefulScopes(params?.scope, userId, { store, offeredScopes });
  if (!coversScopes(decision, granted, clock.now())) return undefined;
  const limits = limitsOfDecision(decision);
  if (!limits) return undefined;
  const grant = createGrant(provider, clock, {
    accountId: account.accountId,
    clientId: client.clientId,
    resource,
    granted,
    refused: requestedScopes(params?.scope).filter((scope) => !granted.includes(scope)),
    offline: false,
    connection: { clientName: displayClient(client.clientId, client.clientName).name, returnsTo, limits },
  });
  await grant.save();
  return grant;
}
