// The welcome text after startup: the URLs, how to sign in, and the lines to paste into an assistant.
import { clientInstructions } from '../../console/clients.ts';
import type { Paint } from '../terminal.ts';

const LABEL_WIDTH = 13;

/** `missing`: the user has none yet and needs a link to choose one. `configured`: it comes from a setting. */
export type WelcomePassword = 'missing' | 'configured' | 'unchanged' | { readonly generated: string };

interface Welcome {
  readonly version: string;
  readonly mcpUrl: string;
  readonly consoleUrl: string;
  /** Set if metrics are enabled. */
  readonly metricsUrl?: string;
  /** A short description of what is served. */
  readonly serves: string;
  readonly email: string;
  readonly password: WelcomePassword;
  /** The name or issuer of the identity provider, if users cannot sign in with a password. */
  readonly through?: string;
  /** The command that sets a new password. */
  readonly resetCommand: string;
  /** The command that prints a link to choose the first password. */
  readonly linkCommand: string;
  readonly warnings: readonly string[];
}

export function composeWelcome(welcome: Welcome, paint: Paint): string {
  const { mcpUrl } = welcome;
  const label = (text: string) => `  ${paint('dim', text.padEnd(LABEL_WIDTH))}`;
  const pasted = (id: string) => clientInstructions.find((client) => client.id === id)!.pasted[0]!.text(mcpUrl);
  const signIn =
    welcome.through !== undefined
      ? [`${label('Sign in')}with ${welcome.through}; passwords are off (docs/sso.md)`]
      : [`${label('E-mail')}${welcome.email}`, ...passwordLines(welcome, label, paint)];
  return [
    '',
    `  ${paint('bold', `Portico ${welcome.version}`)} is ready.`,
    '',
    `${label('MCP address')}${paint('cyan', mcpUrl)}`,
    `${label('Console')}${paint('cyan', welcome.consoleUrl)}`,
    `${label('Serves')}${welcome.serves}`,
    ...(welcome.metricsUrl === undefined ? [] : [`${label('Metrics')}${welcome.metricsUrl}`]),
    ...signIn,
    '',
    `  ${paint('bold', 'Add it to your assistant')}, which then opens the sign-in in your browser:`,
    '',
    `${label('Claude Code')}${pasted('claude-code')}`,
    `${label('Codex')}${pasted('codex')}`,
    `${label('VS Code')}${pasted('vs-code')}`,
    `${label('Cursor')}in .cursor/mcp.json; for other clients in .mcp.json:`,
    `${label('')}${pasted('cursor')}`,
    '',
    ...welcome.warnings.flatMap((warning) => [`  ${paint('yellow', `! ${warning}`)}`, '']),
    '',
  ].join('\n');
}

function passwordLines(
  { password, resetCommand, linkCommand }: Welcome,
  label: (text: string) => string,
  paint: Paint,
): readonly string[] {
  if (password === 'missing') return [`${label('Password')}not set; for a link to choose one: ${linkCommand}`];
  if (password === 'configured') return [`${label('Password')}from SERVICE_ADMIN_PASSWORD`];
  if (password === 'unchanged') return [`${label('Password')}unchanged; to set another: ${resetCommand}`];
  return [
    `${label('Password')}${paint('bold', password.generated)}  (shown only once)`,
    `${label('')}To set another: ${resetCommand}`,
  ];
}
