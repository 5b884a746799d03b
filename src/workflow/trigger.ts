// The settings of a trigger, for the console and the public API alike: who may see and change them, and what a callback's address
// may be.
import type { Access } from '../core/caller.ts';
import type { Config } from '../core/config.ts';
import { fail } from '../core/errors.ts';
import type { Store } from '../store/store.ts';
import type { TriggerChange, Workflow } from '../store/workflow-types.ts';
import { maySee } from './room.ts';
import type { TriggerAddresses } from './trigger-address.ts';

export interface Triggers {
  /** Where the webhook of a workflow is called; undefined where it has no address yet, or must be regenerated. */
  addressOf(workflow: Workflow): Promise<string | undefined>;
  /** Of a workflow that the caller sees: DENIED below editor, INVALID_ARGUMENT for a callback that may not be called. As it is then. */
  change(access: Access, workflow: Workflow, wish: Omit<TriggerChange, 'keyId'>): Promise<Workflow>;
  /** What signatures of calls and callbacks are made with; made at the first look. DENIED below editor. */
  secretOf(access: Access, workflow: Workflow): Promise<string>;
}

export interface TriggersParts {
  readonly store: Pick<Store, 'workflows'>;
  readonly addresses: TriggerAddresses;
  readonly config: Pick<Config, 'webhookHosts'>;
}

/** Spec public-http-api 3.1: triggers are set by editors, and those above. */
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

/** SSRF: what can be told from the address alone; where it leads is judged at every call, when the connection is made. */
function findCallbackProblem(given: string, { webhookHosts }: Pick<Config, 'webhookHosts'>): string | undefined {
  if (given.length > MOST || !URL.canParse(given)) return `expected a URL of at most ${MOST} characters.`;
  const { protocol, hostname, username, password, hash } = new URL(given);
  const isNamed = webhookHosts.some((host) => host.toLowerCase() === hostname);
  if (protocol !== 'https:' && !(protocol === 'http:' && isNamed)) {
    return 'expected https. A host of your own network is named in SERVICE_WEBHOOK_HOSTS.';
  }
  if (username || password) return 'it must not carry a name and password.';
  if (hash) return 'it must not have a fragment.';
  return undefined;
}
