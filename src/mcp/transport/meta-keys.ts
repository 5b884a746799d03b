// Protocol constants that the SDK also exports, for code that runs before the SDK is loaded (sdk.ts). A test compares
// both.

/** MCP 2026-07-28, `_meta` of requests. */
export const PROTOCOL_VERSION_META_KEY = 'io.modelcontextprotocol/protocolVersion';
export const CLIENT_CAPABILITIES_META_KEY = 'io.modelcontextprotocol/clientCapabilities';
export const CLIENT_INFO_META_KEY = 'io.modelcontextprotocol/clientInfo';
export const LOG_LEVEL_META_KEY = 'io.modelcontextprotocol/logLevel';
/** MCP 2026-07-28, `_meta` of results. */
export const SERVER_INFO_META_KEY = 'io.modelcontextprotocol/serverInfo';

/** Revisions before 2026-07-28 that are supported. */
export const LEGACY_VERSIONS: readonly string[] = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
];
