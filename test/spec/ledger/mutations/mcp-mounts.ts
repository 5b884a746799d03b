// Mutations for the URLs of MCP.
import type { Points } from '../mutations.ts';

const issuedElsewhere = ['{issuer}/oauth/', '{url.origin}/oauth/'] as const;

export const mcpMounts: Points = {
  'src/server/route.ts': {
    '4.4 · rule · capture': ['[...oauth.prefixes, ...oauth.wellKnown]', 'oauth.prefixes'],
    '4.4 · endpoint · /mcp': ['path === endpoint ||', "path === '' &&"],
    '4.4 · basePath · <prefix>/mcp': ['basePath}/mcp`) : []', "''}/mcp`) : []"],
  },
  'src/oauth/server/paths.ts': {
    '4.4 · endpoint · /oauth/authorize': ["'/oauth/authorize': 'authorize',", ''],
    '4.4 · endpoint · /oauth/token': ["'/oauth/token': 'token',", ''],
    '4.4 · endpoint · /.well-known/oauth-authorization-server': [
      "const authorizationServer = '/.well-known/oauth-authorization-server';",
      "const authorizationServer = '/.well-known/other';",
    ],
    '4.4 · endpoint · /.well-known/oauth-protected-resource/mcp': [
      "const protectedResource = '/.well-known/oauth-protected-resource';",
      "const protectedResource = '/.well-known/other';",
    ],
    '4.4 · basePath · <prefix>/oauth/authorize': issuedElsewhere,
    '4.4 · basePath · <prefix>/oauth/token': issuedElsewhere,
    '4.4 · basePath · /.well-known/oauth-authorization-server<prefix>': [
      'publish(authorizationServer + prefix,',
      'publish(authorizationServer,',
    ],
    '4.4 · basePath · /.well-known/oauth-protected-resource<prefix>/mcp': [
      "{prefix}/mcp`, 'protectedResource');",
      "{''}/mcp`, 'protectedResource');",
    ],
    '5 · discovery': ['{issuer}/oauth/', '{issuer}/elsewhere/'],
    '4.4 · rule · discovery': ['{issuer}/oauth/', '{issuer}/elsewhere/'],
  },
  'src/server/agent/config.ts': {
    '4.4 · rule · prefix': ['...(basePath !== undefined && { basePath }),', ''],
  },
  'src/server/agent/create-agent.ts': {
    '4.1 · mountAiMcpServer': ['this.#mcp = { ...checkMcpOptions(options, at) };', ''],
  },
  'src/oauth/tokens/bearer.ts': {
    '5 · Bearer': ['(?:Bearer|DPoP) +(', '(?:Basic) +('],
  },
  'src/mcp/tools.ts': {
    '4.4 · rule · enabledTools': [
      'if (enabled === null) return table;',
      'if (enabled === null || enabled) return table;',
    ],
  },
  'src/core/config/listening.ts': {
    '2.1 · environment · SERVICE_MCP_ENABLED_TOOLS': ["env: 'SERVICE_MCP_ENABLED_TOOLS',", "env: 'OTHER_TOOLS',"],
    '2.1 · environment · MCP_SERVER_PORT': ["env: 'MCP_SERVER_PORT',", "env: 'OTHER_PORT',"],
  },
};
