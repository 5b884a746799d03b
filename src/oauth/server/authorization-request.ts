// Normalizes a client's request before the provider reads it: canonical spelling, defaults for omitted parameters,
// unsupported parameters removed. Unknown parameters and scopes are ignored, per RFC 6749 sections 3.1 and 3.3.
import { canonicaliseResources } from './request.ts';
import { knownScopes } from './scopes.ts';

/**
 * OpenID Connect parameters for the ID token, which we do not issue. The provider rejects them without the scope
 * `openid`.
 */
const openidParameters = ['nonce', 'claims', 'claims_locales', 'acr_values', 'id_token_hint', 'max_age'] as const;
/** OpenID scopes that clients also send to the token endpoint. Tokens never include them. */
const openidScopes: ReadonlySet<string> = new Set(['openid', 'profile', 'email', 'address', 'phone', 'offline_access']);
/** RFC 6749 section 3.3. The provider rejects any other character. */
const scopePattern = /^[\x21\x23-\x5b\x5d-\x7e ]*$/;

export function completeAuthorization(
  parameters: URLSearchParams,
  { resource, defaultScopes }: { readonly resource: string; readonly defaultScopes: readonly string[] },
): URLSearchParams {
  // RFC 9126 section 4: a request with a `request_uri` does not repeat the pushed parameters.
  if (!parameters.has('request_uri')) {
    const scope = parameters.get('scope');
    if (parameters.getAll('scope').length < 2 && scopePattern.test(scope ?? '')) {
      parameters.set('scope', knownScopes(scope, defaultScopes));
    }
    for (const name of openidParameters) parameters.delete(name);
    rejectResponseModes(parameters);
  }
  return canonicaliseResources(parameters, resource);
}

/**
 * OAuth 2.1 section 7.12.2, RFC 9700 section 4.18: the metadata offers only the query response mode, and no page of
 * ours posts a response. The provider supports other modes and cannot disable them. Replacing the mode with an unknown
 * name makes the provider reject it.
 */
function rejectResponseModes(parameters: URLSearchParams): void {
  const modes = parameters.getAll('response_mode');
  // RFC 6749 section 3.1: a parameter without a value counts as omitted.
  if (modes.length === 1 && modes[0] !== 'query' && modes[0] !== '') parameters.set('response_mode', 'not-offered');
}

/**
 * Removes OpenID scopes from a refresh request. OpenID clients repeat the scopes of their first request, and those were
 * removed from it.
 */
export function completeRefresh(form: URLSearchParams): void {
  const scope = form.get('scope');
  if (scope === null) return;
  const remaining = scope.split(' ').filter((name) => !openidScopes.has(name));
  if (remaining.length > 0) form.set('scope', remaining.join(' '));
  else form.delete('scope');
}
