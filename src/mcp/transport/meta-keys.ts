// Names of the protocol that the SDK has as well, for what is done before the SDK is loaded (sdk.ts). A test holds them to its own.

/** MCP 2026-07-28, `_meta` of requests. */
export const PROTOCOL_VERSION_META_KEY = 'io.modelcontextprotocol/protocolVersion';
export const CLIENT_CAPABILITIES_META_KEY = 'io.modelcontextprotocol/clientCapabilities';
export const CLIENT_INFO_META_KEY = 'io.modelcontextprotocol/clientInfo';
export const LOG_LEVEL_META_KEY = 'io.modelcontextprotocol/logLevel';
/** The same, of results. */
export const SERVER_INFO_META_KEY = 'io.modelcontextprotocol/serverInfo';

/** Revisions before 2026-07-28 that are served. */
export const LEGACY_VERSIONS: readonly string[] = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
];
