// The settings that the deployment files name.
import { settings } from '../../src/core/config.ts';

/** Throws for a name that is not a setting, and for a value that the setting refuses. */
export function checkSettings(given: Readonly<Record<string, string>>): void {
  const rows = Object.values(settings);
  for (const [name, value] of Object.entries(given)) {
    if (!/^(SERVICE|MCP)_/.test(name)) continue;
    const row = rows.find(({ env }) => env === name.replace(/_FILE$/, ''));
    if (!row) throw new Error(`${name} is not a setting`);
    if (!name.endsWith('_FILE')) row.read(value);
  }
}
