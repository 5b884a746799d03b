// Where the console lies. It has a place of its own, which no basePath moves: in a host application under the prefix of the
// agent, on a server of our own at /console. What a person is sent to is made of the public address, never of a Host header.

export interface ConsolePaths {
  /** `https://data.example.com`, as an Origin header carries it. */
  readonly origin: string;
  /** Host with the port, as a Host header carries it. */
  readonly host: string;
  readonly secure: boolean;
  /** Public path of a page such as `/approvals`; '' is the start page. */
  path(page: string): string;
  /** Absolute address of a page, for whoever is to be sent there. */
  url(page: string): string;
  /** The page that a request path means, such as `/approvals` or ''; undefined when the path is not the console's. */
  locate(path: string): string | undefined;
}

/** Both as the configuration checked them: no slash at the end. */
export function createConsolePaths(publicUrl: string, consolePath: string): ConsolePaths {
  const { origin, host, protocol, pathname } = new URL(publicUrl);
  // A proxy that adds the path of the public URL may strip it or pass it on.
  const publicPath = pathname.replace(/\/+$/, '');
  const base = publicPath + consolePath;
  const roots = [...new Set([base, consolePath])];
  return {
    origin,
    host,
    secure: protocol === 'https:',
    path: (page) => base + page,
    url: (page) => origin + base + page,
    locate(path) {
      for (const root of roots) {
        if (path === root || path === `${root}/`) return '';
        if (path.startsWith(`${root}/`)) return path.slice(root.length);
      }
      return undefined;
    },
  };
}

/** The page on which the sign-in of a front end of the HTTP API is answered. */
export const frontEndPage = (state: string): string => `/front-ends/${state}`;

/** Where an OpenID provider sends people back to. */
export const ssoPage = '/sso/callback';

/** The page on which a run is watched, and what it asks is answered. */
export const runPage = (id: string): string => `/runs/${id}`;

/** Where the authorization server of a remote MCP server sends people back to: one for each (workflow/remote/registration.ts). */
export const remoteCallbackPage = (id: string): string => `/remotes/${id}/callback`;

/** What we publish about ourselves as a client of that authorization server. */
export const remoteClientPage = (id: string): string => `/remotes/${id}/client`;

/** The page on which one approval is decided. */
export const approvalPage = (id: string): string => `/approvals/${id}`;

/** A count, as an address or a form says it; undefined for anything else. */
export function countIn(given: string | null | undefined): number | undefined {
  return given && /^\d{1,6}$/.test(given) ? Number(given) : undefined;
}
