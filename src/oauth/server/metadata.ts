// The discovery documents and the token for OpenAI, serialized once. The provider's own handler is not used: it builds URLs from the Host
// header and does not support path insertion.
import type { Config } from '../../core/config.ts';
import type { Paths } from './paths.ts';
import { cloudScope, offlineAccess, resourceScopes } from './scopes.ts';

/** The provider configuration and the metadata both use these constants, so they always match. */
export const clientAuthMethods = ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'] as const;
export const assertionAlgorithms = ['ES256', 'RS256', 'PS256', 'EdDSA'] as const;
export const dpopAlgorithms = ['ES256', 'EdDSA'] as const;
/** Grant types of clients that register or publish a metadata document. */
export const grantTypes = ['authorization_code', 'refresh_token'] as const;
/** RFC 8628 section 3.4; only for the command line. */
export const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';
/**
 * Custom metadata member (RFC 8414 section 2 permits them): the resource of the command line. Present only when
 * command-line sign-in is on.
 */
export const CLOUD_MEMBER = 'portico_cloud_resource';

interface Metadata {
  readonly authorizationServer: Buffer;
  readonly protectedResource: Buffer;
  /** Absent without a token. */
  readonly appsChallenge: Buffer | undefined;
}

export function buildMetadata(
  paths: Paths,
  config: Pick<Config, 'dynamicRegistration' | 'clientMetadataDocuments' | 'openaiAppsChallenge'>,
  resourceName: string,
  /** Resource of the command line; absent when command-line sign-in is off. */
  cloud?: string,
): Metadata {
  const json = (document: object) => Buffer.from(JSON.stringify(document));
  const authenticated = clientAuthMethods.filter((method) => method !== 'none');
  return {
    // RFC 8414 section 2, RFC 8628 section 4, RFC 9126 section 5, RFC 9207 section 3, RFC 9449 section 5.1.
    authorizationServer: json({
      issuer: paths.issuer,
      authorization_endpoint: paths.url('authorize'),
      token_endpoint: paths.url('token'),
      ...(config.dynamicRegistration ? { registration_endpoint: paths.url('register') } : {}),
      revocation_endpoint: paths.url('revoke'),
      introspection_endpoint: paths.url('introspect'),
      pushed_authorization_request_endpoint: paths.url('par'),
      ...(cloud === undefined ? {} : { device_authorization_endpoint: paths.url('device_authorization') }),
      jwks_uri: paths.url('jwks'),
      scopes_supported: [...resourceScopes, offlineAccess, ...(cloud === undefined ? [] : [cloudScope])],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: [...grantTypes, ...(cloud === undefined ? [] : [deviceGrant])],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: clientAuthMethods,
      token_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
      revocation_endpoint_auth_methods_supported: clientAuthMethods,
      revocation_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
      introspection_endpoint_auth_methods_supported: [...authenticated, 'none'],
      introspection_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
      dpop_signing_alg_values_supported: dpopAlgorithms,
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: config.clientMetadataDocuments,
      require_pushed_authorization_requests: false,
      ...(cloud === undefined ? {} : { [CLOUD_MEMBER]: cloud }),
    }),
    // RFC 9728 section 2. No `offline_access`: refresh tokens do not concern the resource.
    protectedResource: json({
      resource: paths.resource,
      authorization_servers: [paths.issuer],
      scopes_supported: resourceScopes,
      bearer_methods_supported: ['header'],
      dpop_signing_alg_values_supported: dpopAlgorithms,
      resource_name: resourceName,
    }),
    appsChallenge: config.openaiAppsChallenge === null ? undefined : Buffer.from(config.openaiAppsChallenge),
  };
}
