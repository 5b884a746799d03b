// The code blocks of the README, docs and examples.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../cli/command.ts';

export interface Block {
  readonly page: string;
  readonly title: string;
  readonly language: string;
  /** What follows the language in the info string. */
  readonly mark: string;
  readonly text: string;
}

const namesIn = (folder: string): string[] => readdirSync(join(root, folder));
export const pages: readonly string[] = [
  'README.md',
  ...namesIn('docs')
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
  ...namesIn('examples').map((name) => `examples/${name}/README.md`),
];

export function readBlocks(page: string): readonly Block[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^( *)```(\w+)(?: (\w+))?\n(.*?)^ *```/gms)].map((match) => {
    const [, indent = '', language = '', mark = '', code = ''] = match;
    const line = text.slice(0, match.index).split('\n').length;
    return { page, title: `${page}:${line}`, language, mark, text: code.replace(new RegExp(`^${indent}`, 'gm'), '') };
  });
}

export const blocks: readonly Block[] = pages.flatMap(readBlocks);
export const programs = blocks.filter(({ language }) => language === 'js' || language === 'ts');

/** An example of a customization, for a file `portico.config`. */
export const isConfig = ({ text }: Block): boolean => /^export default function customize\(agent\b/m.test(text);

/**
 * What surrounds an example that is a part of a file, by words that only this example has. `declared` is for the
 * compiler alone.
 */
const surroundings: readonly { readonly words: string; readonly above?: string; readonly declared?: string }[] = [
  {
    words: 'authenticate: (req)',
    above: "import { createAgent } from 'portico';",
    declared: `import type { IncomingMessage } from 'node:http';
interface User { id: string; email: string; firstName: string; lastName: string; isManager: boolean }
declare const sessions: Map<string, User>;
declare function readCookie(req: IncomingMessage, name: string): string;`,
  },
  {
    words: "createSqlDataSource('postgres:",
    above: "import { createSqlDataSource } from 'portico';",
    declared: 'declare const authorities: string;',
  },
  { words: "createSqlDataSource('mysql:", above: "import { createSqlDataSource } from 'portico';" },
  {
    words: 'agent.addDataSource(createCountries(',
    declared: `import type { DataSourceFactory, EngineAgent } from 'portico';
declare const agent: EngineAgent;
declare function createCountries(fetchCountries: () => Promise<{ code: string; name: string }[]>): DataSourceFactory;`,
  },
  {
    words: 'createAgentTestClient(',
    above: "import { createAgentTestClient } from 'portico/testing';",
    declared: 'declare const sandbox: { url: string };',
  },
  {
    words: "from 'portico-plugin-bin'",
    declared: "import type { EngineAgent } from 'portico';\ndeclare const agent: EngineAgent;",
  },
  {
    words: 'createAgent<Schema>(options)',
    declared: "import type { AgentOptions } from 'portico';\ndeclare const options: AgentOptions;",
  },
];

/** The example as a TypeScript module: what docs/customizing.md says about TypeScript is done. */
export function toTypeScript(block: Block): string {
  const { text, mark } = block;
  const around = surroundings.find(({ words }) => text.includes(words));
  const host = "import type { Agent } from 'portico';\ndeclare const agent: Agent;\ndeclare class ShopModule {}";
  const code = text
    .replace('customize(agent)', 'customize(agent: EngineAgent): void')
    // The options that the example leaves out.
    .replace(/^ *\/\/ \.\.\.$/m, "authSecret: 'a', envSecret: 'b',");
  const types = code !== text && isConfig(block) ? "import type { EngineAgent } from 'portico';" : '';
  const above = [types, around?.above, around?.declared, mark === 'host' && host].filter(Boolean);
  return `${above.join('\n')}\n${code}\nexport {};\n`;
}
