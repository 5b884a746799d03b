// Trigger settings, used by the console and the public API: permissions to view and change them, and validation of
// callback URLs.
import type { Access } from '../../core/caller.ts';
import { isNamedHost, mayBePublic } from '../../core/config/hosts.ts';
import type { Config } from '../../core/config.ts';
import { fail } from '../../core/errors.ts';
import type { Store } from '../../store/store.ts';
import type { TriggerChange, Workflow } from '../../store/workflows/types.ts';
import { canSeeWorkflow } from '../workflows.ts';
import type { TriggerAddresses } from './trigger-address.ts';

export interface Triggers {
  /** The webhook URL of a workflow. Undefined if it has no URL yet, or must be regenerated. */
  addressOf(workflow: Workflow): Promise<string | undefined>;
  /**
   * Returns the changed workflow, which must be visible to the caller. Throws DENIED below editor, INVALID_ARGUMENT for
   * a callback URL that is not allowed.
   */
  change(access: Access, workflow: Workflow, settings: Omit<TriggerChange, 'keyId'>): Promise<Workflow>;
  /** The secret that signs calls and callbacks, created on first use. Throws DENIED below editor. */
  secretOf(access: Access, workflow: Workflow): Promise<string>;
}

interface TriggersParts {
  readonly store: Pick<Store, 'workflows'>;
  readonly addresses: TriggerAddresses;
  readonly config: Pick<Config, 'webhookHosts'>;
}

/** Editors and higher levels may set triggers (behaviour api 3.1). */
export const canEditWorkflows = ({ caller }: Access): boolean => caller.permissionLevel !== 'user';

export function createTriggers({ store, addresses, config }: TriggersParts): Triggers {
  const { workflows } = store;
  const requireEditor = (access: Access, workflow: Workflow): void => {
    if (!canSeeWorkflow(access, workflow))
      fail('FORBIDDEN', { verb: 'see workflows of', collection: workflow.collection });
    if (canEditWorkflows(access)) return;
    fail('DENIED', { problem: 'Only editors, developers and administrators can change the trigger of a workflow.' });
  };
  return {
    addressOf: (workflow) => addresses.urlOf(workflow),
    async change(access, workflow, settings) {
      requireEditor(access, workflow);
      const { callbackUrl } = settings;
      if (typeof callbackUrl === 'string') {
        const problem = findCallbackProblem(callbackUrl, config);
        if (problem) fail('INVALID_ARGUMENT', { argument: 'callbackUrl', problem });
      }
      const needsUrl = settings.isEnabled === true || settings.regenerate === true;
      const keyId = needsUrl ? { keyId: await addresses.newestKey() } : {};
      const changed = await workflows.changeTrigger(workflow.id, { ...settings, ...keyId }, access.caller.id);
      return changed ?? fail('NOT_FOUND', { path: `workflow ${workflow.id}` });
    },
    async secretOf(access, workflow) {
      requireEditor(access, workflow);
      return (
        (await workflows.signingSecret(workflow.id, true)) ?? fail('NOT_FOUND', { path: `workflow ${workflow.id}` })
      );
    },
  };
}

const MAX_URL_LENGTH = 1000;

/** Checks the URL against SSRF before any DNS lookup. The resolved address is checked on each connection. */
function findCallbackProblem(text: string, { webhookHosts }: Pick<Config, 'webhookHosts'>): string | undefined {
  if (text.length > MAX_URL_LENGTH || !URL.canParse(text))
    return `expected a URL of at most ${MAX_URL_LENGTH} characters.`;
  const url = new URL(text);
  const { protocol, hostname, username, password, hash } = url;
  const isAllowedHost = isNamedHost(url, webhookHosts);
  if (protocol !== 'https:' && !(protocol === 'http:' && isAllowedHost)) {
    return 'expected https. For a host of your own network, add it to SERVICE_WEBHOOK_HOSTS.';
  }
  if (!isAllowedHost && !mayBePublic(hostname)) {
    return `${hostname} is not a public host. Send an https URL of a public host, or have the operator add this host to SERVICE_WEBHOOK_HOSTS.`;
  }
  if (username || password) return 'it must not contain a user name or a password.';
  if (hash) return 'it must not have a fragment.';
  return undefined;
}
