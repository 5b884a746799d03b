// The user and the program that embeds an SDK: stores the client and its tokens, and signs in on the real pages when
// the SDK redirects. Both versions of the SDK accept it as their OAuthClientProvider.
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

/** The tools for the demo shop, sorted by name. It has no actions, charts or workflows. */
const useless = new Set([
  ...['getActionForm', 'executeAction', 'requestActionFileUpload', 'getChart'],
  ...['listWorkflows', 'triggerWorkflow', 'getWorkflowRun'],
]);
export const offered = toolNames.filter((name) => !useless.has(name)).sort();

export interface Person {
  readonly provider: OAuthClientProvider;
  /** The id of the client, which registered or has a metadata document. */
  clientId(): string | undefined;
  /** Signs in at the SDK's last URL; returns the parameters of the redirect. */
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
