// What an SDK asks of the program that embeds it, and of the person in front of it: keeps the client and its tokens, and
// signs in on the real pages when the SDK says where to go. Both lines of the SDK take it as their OAuthClientProvider.
import type { OAuthClientMetadata, OAuthClientProvider, OAuthDiscoveryState } from '@modelcontextprotocol/client';
import { toolNames } from '../../src/mcp/tools.ts';
import { type Account, signIn } from '../oauth/flow.ts';

export const redirectUri = 'http://127.0.0.1:49152/callback';

export const notebook = {
  client_name: 'Notebook',
  redirect_uris: [redirectUri],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
} satisfies OAuthClientMetadata;

/** The tools that the demo shop has a use for, in order of their names: it has no actions, charts and workflows. */
const useless = new Set([
  ...['getActionForm', 'executeAction', 'requestActionFileUpload', 'getChart'],
  ...['listWorkflows', 'triggerWorkflow', 'getWorkflowRun'],
]);
export const offered = toolNames.filter((name) => !useless.has(name)).sort();

export interface Person {
  readonly provider: OAuthClientProvider;
  /** How the client became known: registered, or named by its document. */
  clientId(): string | undefined;
  /** Signs in where the SDK last pointed to; answers the parameters of the way back. */
  signIn(account: Account): Promise<URLSearchParams>;
}

export function createPerson(clientMetadataUrl?: string): Person {
  let client: Awaited<ReturnType<OAuthClientProvider['clientInformation']>>;
  let tokens: Awaited<ReturnType<OAuthClientProvider['tokens']>>;
  let discovered: OAuthDiscoveryState | undefined;
  let verifier = '';
  let leadsTo: URL | undefined;
  return {
    provider: {
      redirectUrl: redirectUri,
      clientMetadata: notebook,
      ...(clientMetadataUrl === undefined ? {} : { clientMetadataUrl }),
      state: () => 'the-state',
      clientInformation: () => client,
      saveClientInformation(given) {
        client = given;
      },
      tokens: () => tokens,
      saveTokens(given) {
        tokens = given;
      },
      discoveryState: () => discovered,
      saveDiscoveryState(given) {
        discovered = given;
      },
      redirectToAuthorization(url) {
        leadsTo = url;
      },
      saveCodeVerifier(given) {
        verifier = given;
      },
      codeVerifier: () => verifier,
    },
    clientId: () => client?.client_id,
    async signIn(account) {
      if (!leadsTo) throw new Error('the SDK did not ask anyone to sign in');
      const back = (await signIn(leadsTo, account)).searchParams;
      if (back.get('state') !== 'the-state') throw new Error('the state did not come back');
      return back;
    },
  };
}
