// The sign-in and consent pages. An answer is checked in this order: the interaction exists and its cookie matches the
// URL (oidc-provider), same site, CSRF token, not answered before. Then the checks of the answer itself run.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import type { InteractionResults } from 'oidc-provider';
import type { Clock } from '../../core/clock.ts';
import { isAppError } from '../../core/errors.ts';
import type { Observe } from '../../core/observe.ts';
import { sign, timingSafeEqualText } from '../../core/secret.ts';
import { messagePage, sendPage } from '../../http/page.ts';
import type { Store } from '../../store/store.ts';
import type { User } from '../../store/users/types.ts';
import { displayClient } from '../clients/display-name.ts';
import { createConsent, type ListCollections, type OfferedScopes } from '../consent/consent.ts';
import { createDeviceConsent } from '../device/consent.ts';
import type { Paths } from '../server/paths.ts';
import { originalOf } from '../server/request.ts';
import { createSsoRedirects } from '../sso/redirects.ts';
import type { Sso } from '../sso/sign-in.ts';
import { completeSignIn, forgetSession, redirect } from './completion.ts';
import type { Details, LogEvent, Step } from './interaction-step.ts';
import { type LoginMethods, readSsoAction } from './login-methods.ts';
import { signInPage } from './page.ts';
import { createPasswordSteps, destinationOf } from './password-steps.ts';
import type { SignIn } from './sign-in.ts';
import { readAction, undecidedText } from './sign-in-form.ts';

interface InteractionOptions {
  readonly provider: Provider;
  /** Newest first. */
  readonly cookieKeys: readonly string[];
  readonly store: Store;
  readonly signIn: SignIn;
  readonly paths: Paths;
  readonly clock: Pick<Clock, 'now'>;
  readonly observe: Observe;
  readonly addressOf: (req: object) => string;
  readonly listCollections: ListCollections;
  readonly offeredScopes: OfferedScopes;
  readonly loginMethods: LoginMethods;
  /** Resource of the command line; absent when command-line sign-in is off. */
  readonly cloud?: string | undefined;
}

export interface Interaction {
  show(req: IncomingMessage, res: ServerResponse, uid: string): Promise<void>;
  answer(req: IncomingMessage, res: ServerResponse, uid: string, form: URLSearchParams): Promise<void>;
  /** Handles the redirect back from the OpenID provider. */
  finishSso(req: IncomingMessage, res: ServerResponse, sso: Sso, query: URLSearchParams): Promise<void>;
}

export const expiredPage = messagePage({
  title: 'This sign-in has expired',
  text: 'It was not completed in time, or was already completed. Go back to your assistant and connect again.',
});

export const blockedPage = messagePage({
  title: 'This app is blocked here',
  text: 'An administrator blocked it. No data was sent to it.',
});

export function createInteraction(options: InteractionOptions): Interaction {
  const { provider, cookieKeys, store, paths, observe, loginMethods } = options;
  const ssoRedirects = createSsoRedirects(options);

  const openStep = async (req: IncomingMessage, res: ServerResponse, uid: string): Promise<Step | undefined> => {
    const details = await provider.interactionDetails(req, res).catch((error: unknown) => {
      if ((error as Error).name === 'SessionNotFound') return undefined;
      throw error;
    });
    // OWASP session management: the page must belong to this browser's interaction.
    if (!details || details.uid !== uid) {
      sendPage(res, details ? 404 : 400, expiredPage);
      return undefined;
    }
    const clientId = `${details.params.client_id}`;
    const client = await provider.Client.find(clientId).catch((error: unknown) => {
      if ((error as { error?: unknown }).error === 'unauthorized_client') return 'blocked' as const;
      throw error;
    });
    if (!client || client === 'blocked') {
      sendPage(res, 400, client ? blockedPage : expiredPage);
      return undefined;
    }
    return {
      req,
      res,
      details,
      clientId,
      client: displayClient(clientId, client.clientName),
      csrf: createCsrfToken(details, cookieKeys[0] ?? ''),
      action: paths.interaction(uid),
    };
  };

  const logEvent: LogEvent = (step, event, userId, detail) =>
    observe({
      type: 'security',
      event,
      clientId: step.clientId,
      address: options.addressOf(step.req),
      ...(userId === undefined ? {} : { userId }),
      ...(detail === undefined ? {} : { detail }),
    });

  const consent = createConsent({ ...options, logEvent });
  const deviceConsent = createDeviceConsent({ ...options, resource: options.cloud ?? '', logEvent });

  const finish = (step: Step, result: InteractionResults, merge: boolean) =>
    provider.interactionFinished(step.req, step.res, result, { mergeWithLastSubmission: merge });

  const showSignIn = async (step: Step, email: string, problem?: string, status?: number): Promise<void> => {
    const page = signInPage({
      environment: await store.identity.place(),
      client: step.client,
      destination: destinationOf(step),
      action: step.action,
      csrf: step.csrf,
      email,
      problem,
      loginMethods,
      hostUrl: loginMethods.host?.signInUrl(paths.origin + step.action),
    });
    const isClosed =
      loginMethods.host !== undefined && !loginMethods.passwords && loginMethods.host.signInUrl('') === undefined;
    sendPage(step.res, status ?? (problem === undefined ? (isClosed ? 401 : 200) : 400), page);
  };

  const showConsent = async (step: Step): Promise<void> => {
    const user = await findUser(step);
    if (!user) return sendPage(step.res, 400, expiredPage);
    if (step.details.deviceCode !== undefined) return deviceConsent.show(step, user);
    await consent.show(step, user);
  };

  const findUser = async (step: Step): Promise<User | undefined> => {
    const user = await store.identity.findUser(Number(step.details.session?.accountId));
    return user?.disabled ? undefined : user;
  };

  const passwordSteps = createPasswordSteps({ ...options, logEvent, showSignIn });

  /** Signs in the host application's user without showing a page. Consent follows. */
  const signInThroughHost = async (step: Step): Promise<boolean> => {
    const { host } = loginMethods;
    if (!host) return false;
    const answer = await host.identify(originalOf(step.req));
    if (answer.state === 'nobody') return false;
    logEvent(
      step,
      `sign-in.${answer.state}`,
      answer.state === 'ok' ? answer.user.id : undefined,
      answer.state === 'refused' ? answer.reason : undefined,
    );
    if (answer.state === 'refused') {
      await showSignIn(step, '', 'Your account has no access here. Ask an administrator for access.', 403);
      return true;
    }
    redirect(step.res, await completeSignIn(options, step.details, { userId: answer.user.id, issuer: host.issuer }));
    return true;
  };

  /** Whether the host still reports the user who is about to consent. */
  const isStillSignedIn = async (step: Step): Promise<boolean> => {
    const { accountId, acr } = step.details.session ?? {};
    if (!loginMethods.host || accountId === undefined) return true;
    const isStill = await loginMethods.host.isStillSignedIn(
      originalOf(step.req),
      Number(accountId),
      acr === loginMethods.host.issuer,
    );
    if (!isStill) logEvent(step, 'sign-in.changed', Number(accountId));
    return isStill;
  };

  const beginSso = async (step: Step, { sso, forceLogin }: { sso: Sso; forceLogin: boolean }): Promise<void> => {
    const loginHint = step.details.params.login_hint;
    const shortHint = typeof loginHint === 'string' ? loginHint.slice(0, 254) : undefined;
    try {
      await ssoRedirects.begin(step.req, step.res, sso, { uid: step.details.uid, forceLogin, hint: shortHint });
    } catch (error) {
      if (!isAppError(error, 'SSO_UNAVAILABLE')) throw error;
      await showSignIn(step, '', error.message, error.status);
    }
  };

  /** Shows the consent page again after a form without a button. Such a form decides nothing. */
  const repeatConsent = async (step: Step, form: URLSearchParams): Promise<void> => {
    if (!(await isStillSignedIn(step))) return switchAccount(step);
    const user = await findUser(step);
    if (!user) return sendPage(step.res, 400, expiredPage);
    if (step.details.deviceCode !== undefined) return deviceConsent.show(step, user, undecidedText);
    await consent.search(step, user, form, undecidedText);
  };

  const searchCollections = async (step: Step, form: URLSearchParams): Promise<void> => {
    const user = await findUser(step);
    if (!user || step.details.deviceCode !== undefined) return sendPage(step.res, 400, expiredPage);
    await consent.search(step, user, form);
  };

  const allow = async (step: Step, form: URLSearchParams): Promise<void> => {
    const user = await findUser(step);
    if (!user) return sendPage(step.res, 400, expiredPage);
    const isDevice = step.details.deviceCode !== undefined;
    const grantId = await (isDevice ? deviceConsent.allow(step, user) : consent.allow(step, user, form));
    if (grantId !== undefined) await finish(step, { consent: { grantId } }, true);
  };

  const deny = async (step: Step): Promise<void> => {
    const accountId = step.details.session?.accountId;
    logEvent(step, 'consent.denied', accountId === undefined ? undefined : Number(accountId));
    // RFC 6749 section 4.1.2.1, RFC 9207 section 2: the client gets the error, with state and iss.
    await finish(step, { error: 'access_denied', error_description: 'The user denied the request.' }, false);
  };

  const switchAccount = async (step: Step): Promise<void> => {
    await forgetSession(provider, step.details);
    await step.details.destroy();
    if (step.details.deviceCode !== undefined) return redirect(step.res, await deviceConsent.release(step));
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(step.details.params)) {
      for (const text of [value].flat()) if (typeof text === 'string') parameters.append(name, text);
    }
    // The next request comes from our own page, so the original site is lost. Asking for consent forces the page.
    const prompts = new Set(`${parameters.get('prompt') ?? ''} consent`.trim().split(' '));
    parameters.set('prompt', [...prompts].join(' '));
    redirect(step.res, `${paths.url('authorize')}?${parameters}`);
  };

  return {
    async show(req, res, uid) {
      const step = await openStep(req, res, uid);
      if (!step) return;
      if (step.details.result) return redirect(res, step.details.returnTo);
      if (step.details.prompt.name === 'consent') {
        return (await isStillSignedIn(step)) ? showConsent(step) : switchAccount(step);
      }
      if (await signInThroughHost(step)) return;
      await showSignIn(step, `${step.details.params.login_hint ?? ''}`.slice(0, 254));
    },
    async answer(req, res, uid, form) {
      const step = await openStep(req, res, uid);
      if (!step) return;
      // Fetch Metadata: if the browser reports the origin of the form, it must be ours.
      const site = req.headers['sec-fetch-site'];
      const sameSite = site === undefined || site === 'same-origin';
      // RFC 6749 section 10.12: the form must be ours, for this interaction, step and session.
      const csrf = form.get('csrf') ?? '';
      if (!sameSite || !cookieKeys.some((key) => timingSafeEqualText(csrf, createCsrfToken(step.details, key)))) {
        logEvent(step, 'interaction.forged');
        return sendPage(res, 400, expiredPage);
      }
      // Single use: pressing the button again leads to the same URL and changes no state.
      if (step.details.result) return redirect(res, step.details.returnTo);
      const action = readAction(form);
      const isConsentStep = step.details.prompt.name === 'consent';
      if (!isConsentStep && loginMethods.passwords) {
        if (action === 'sign-in') return passwordSteps.signIn(step, form);
        if (action === 'code') return passwordSteps.code(step, form);
        if (action === 'set-up') return passwordSteps.setUp(step, form);
      }
      const throughSso = isConsentStep ? undefined : readSsoAction(action, loginMethods);
      if (throughSso) return beginSso(step, throughSso);
      if ((action === 'allow' || action === 'find') && isConsentStep) {
        if (!(await isStillSignedIn(step))) return switchAccount(step);
        return action === 'allow' ? allow(step, form) : searchCollections(step, form);
      }
      if (action === 'switch' && isConsentStep) return switchAccount(step);
      if (action === 'deny' || action === 'cancel') return deny(step);
      if (action === undefined && isConsentStep) return repeatConsent(step, form);
      sendPage(res, 400, expiredPage);
    },
    finishSso: ssoRedirects.finish,
  };
}

function createCsrfToken(details: Details, key: string): string {
  return sign(['csrf', details.uid, details.prompt.name, details.session?.cookie ?? ''].join(' '), key);
}
