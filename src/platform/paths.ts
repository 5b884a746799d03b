// Where the platform's door lies: /platform on a server of our own, below the prefix of the agent in a host application.

export interface DoorPaths {
  /** What follows the door's own path, such as `/v1/oauth/find`; undefined when the path is not the door's. */
  locate(path: string): string | undefined;
}

/** Both as the configuration checked them: no slash at the end. */
export function createDoorPaths(publicUrl: string, platformPath: string): DoorPaths {
  // A proxy that adds the path of the public URL may strip it or pass it on.
  const base = new URL(publicUrl).pathname.replace(/\/+$/, '') + platformPath;
  const roots = [...new Set([base, platformPath])];
  return {
    locate(path) {
      const root = roots.find((one) => path === one || path.startsWith(`${one}/`));
      return root === undefined ? undefined : path.slice(root.length);
    },
  };
}

export const defaultDoorPath = '/platform';

/**
 * The address of the door: what `serverUrl` names with a path is the door itself; an origin alone is a server on which the
 * door lies at its default path.
 */
export function doorUrlOf(serverUrl: string): string {
  const { origin, pathname } = new URL(serverUrl);
  return origin + (pathname === '/' ? defaultDoorPath : pathname.replace(/\/+$/, ''));
}
