// Packages that only some installations use. They are optional peer dependencies: npm does not install them with
// Portico. They are loaded when they are needed, and the error of a missing one says what to install.
import { createRequire } from 'node:module';
import { AppError } from '../errors.ts';

/** What needs each package, as the subject of a sentence, and what to install with it. */
const packages = {
  '@anthropic-ai/sdk': { needs: 'A model of Anthropic needs' },
  '@modelcontextprotocol/client': { needs: 'Remote MCP servers need' },
  bullmq: { needs: 'SERVICE_REDIS_URL needs', also: 'ioredis' },
  ioredis: { needs: 'SERVICE_REDIS_URL needs', also: 'bullmq' },
  mysql2: { needs: 'MySQL and MariaDB need' },
  nodemailer: { needs: 'SERVICE_MAIL_URL needs' },
  openai: { needs: 'A model of OpenAI needs' },
  pg: { needs: 'PostgreSQL needs' },
} as const satisfies Readonly<Record<string, { readonly needs: string; readonly also?: string }>>;

type OptionalPackage = keyof typeof packages;

const require = createRequire(import.meta.url);

/** Passes on what `load` imports. CONFIGURATION with the command to run if the package is not installed. */
export async function importOptional<T>(name: OptionalPackage, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    throw explainMissing(name, error);
  }
}

/** The same for a CommonJS package that is needed at once. */
export function requireOptional<T>(name: OptionalPackage): T {
  try {
    return require(name) as T;
  } catch (error) {
    throw explainMissing(name, error);
  }
}

/** Undefined if the package is not installed: it has nothing to do then. */
export function requireIfInstalled<T>(name: string): T | undefined {
  try {
    return require(name) as T;
  } catch (error) {
    if (isMissing(name, error)) return undefined;
    throw error;
  }
}

/** A package that misses one of its own dependencies names that one. */
function isMissing(name: string, error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  return (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') && message.includes(`'${name}'`);
}

/** Other errors stay what they are: the package is installed, but does not load. */
function explainMissing(name: OptionalPackage, error: unknown): unknown {
  if (!isMissing(name, error)) return error;
  const { needs, also }: { needs: string; also?: string } = packages[name];
  const install = also === undefined ? name : [name, also].sort().join(' ');
  const problem = `${needs} the package '${name}', which is not installed. Install it with 'npm install ${install}'.`;
  return new AppError('CONFIGURATION', { problem }, error);
}
