// Trigger settings, used by the console and the public API: permissions to view and change them, and validation of
// callback URLs.
import type { Access } from '../../core/caller.ts';
import { isNamedHost, mayBePublic } from '../../core/config/hosts.ts';
import type { Config } from '../../core/config.ts';
import { fail } from '../../core/errors.ts';
import type { Store } from '../../store/store.ts';
import type { TriggerChange, Workflow } from '../../store/workflows/types.ts';
import { maySee } from '../workflows.ts';
import type { TriggerAddresses } from './trigger-address.ts';

export interface Triggers {
  /** The webhook URL of a workflow. Undefined if it has no URL yet, or must be regenerated. */
  addressOf(workflow: Workflow): Promise<string | undefined>;
  /**
   * Returns the changed workflow, which must be visible to the caller. Throws DENIED below editor, INVALID_ARGUMENT for
   * a callback URL that is not allowed.
   */
  change(access: Access, workflow: Workflow, wish: Omit<TriggerChange, 'keyId'>): Promise<Workflow>;
  /** The secret that signs calls and callbacks, created on first use. Throws DENIED below editor. */
  secretOf(access: Access, workflow: Workflow): Promise<string>;
}

export interface TriggersParts {
  readonly store: Pick<Store, 'workflows'>;
  readonly addresses: TriggerAddresses;
  readonly config: Pick<Config, 'webhookHosts'>;
}

/** Editors and higher levels may set triggers (spec public-http-api 3.1). */
export const mayEditWorkflows = ({ caller }: Access): boolean => caller.permissionLevel !== 'user';

export function createTriggers({ store, addresses, config }: TriggersParts): Triggers {
  const { workflows } = store;
  const need = (access: Access, workflow: Workflow): void => {
    if (!maySee(access, workflow)) fail('FORBIDDEN', { verb: 'see workflows of', collection: workflow.collection });
    if (mayEditWorkflows(access)) return;
    fail('DENIED', { problem: 'The trigger of a workflow is set by editors, developers and administrators.' });
  };
  return {
    addressOf: (workflow) => addresses.of(workflow),
    async change(access, workflow, wish) {
      need(access, workflow);
      const { callbackUrl } = wish;
      if (typeof callbackUrl === 'string') {
        const problem = findCallbackProblem(callbackUrl, config);
        if (problem) fail('INVALID_ARGUMENT', { argument: 'callbackUrl', problem });
      }
      const makes = wish.isEnabled === true || wish.regenerate === true;
      const keyId = makes ? { keyId: await addresses.newestKey() } : {};
      const changed = await workflows.changeTrigger(workflow.id, { ...wish, ...keyId }, access.caller.id);
      return changed ?? fail('NOT_FOUND', { path: `workflow ${workflow.id}` });
    },
    async secretOf(access, workflow) {
      need(access, workflow);
      return (
        (await workflows.signingSecret(workflow.id, true)) ?? fail('NOT_FOUND', { path: `workflow ${workflow.id}` })
      );
    },
  };
}

const MOST = 1000;

/** Checks the URL against SSRF before any DNS lookup. The resolved address is checked on each connection. */
function findCallbackProblem(given: string, { webhookHosts }: Pick<Config, 'webhookHosts'>): string | undefined {
  if (given.length > MOST || !URL.canParse(given)) return `expected a URL of at most ${MOST} characters.`;
  const url = new URL(given);
  const { protocol, hostname, username, password, hash } = url;
  const isNamed = isNamedHost(url, webhookHosts);
  if (protocol !== 'https:' && !(protocol === 'http:' && isNamed)) {
    return 'expected https. A host of your own network is named in SERVICE_WEBHOOK_HOSTS.';
  }
  if (!isNamed && !mayBePublic(hostname)) {
    return `${hostname} is not a public host. Send an https URL of a public host, or have the operator name this one in SERVICE_WEBHOOK_HOSTS.`;
  }
  if (username || password) return 'it must not carry a name and password.';
  if (hash) return 'it must not have a fragment.';
  return undefined;
}
