// Shared by the subcommands of main.ts: their options for settings, and how they are added.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type SettingName, settings } from '../core/config.ts';
import type { Flags } from './environment.ts';

/** Options for settings, generated from the table in core/config.ts. */
const settingOptions: readonly [SettingName, Option][] = (
  Object.entries(settings) as [SettingName, (typeof settings)[SettingName]][]
).flatMap(([name, row]) => {
  if (!('flag' in row)) return [];
  const repeats = 'repeats' in row;
  const check = (value: string, before?: string): string => {
    const text = repeats && before !== undefined ? `${before}\n${value}` : value;
    try {
      row.read(text);
      return text;
    } catch (error) {
      throw new InvalidArgumentError((error as Error).message);
    }
  };
  return [
    [
      name,
      new Option(`${row.flag} <value>`, `${row.about} (${row.env})${repeats ? '; can be repeated' : ''}`).argParser(
        check,
      ),
    ],
  ];
});

export function flagsOf(command: Command): Flags {
  const given = command.opts<Record<string, string>>();
  return Object.fromEntries(Object.keys(settings).flatMap((name) => (name in given ? [[name, given[name]]] : [])));
}

export function addCommand(parent: Command, nameAndArguments: string, description: string): Command {
  const command = parent.command(nameAndArguments).description(description).allowExcessArguments(false);
  command.helpOption('-h, --help', 'Show help');
  return command;
}

export function withSettings(command: Command, ...only: readonly SettingName[]): Command {
  for (const [name, option] of settingOptions) if (only.length === 0 || only.includes(name)) command.addOption(option);
  return command;
}
