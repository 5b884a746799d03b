// `portico keys`: manages the keys of the installation. A server on the same storage applies changes with its next
// request.
import { systemClock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { fail } from '../core/errors.ts';
import type { KeyGeneration } from '../store/store.ts';
import { withStore } from './storage.ts';
import { alignColumns, createPaint } from './terminal.ts';

const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000 };

export async function listKeys(config: Config): Promise<void> {
  await withStore(config, async (store) => {
    const keys = await store.keys.list();
    if (keys.length === 0) return printLine('There is no key yet: each is created when it is first needed.');
    const rows = keys.map(({ purpose, generation, id, createdAt, replacedAt }) => [
      purpose,
      String(generation),
      id,
      showTime(createdAt),
      replacedAt === null ? 'signs' : `verifies; replaced ${showTime(replacedAt)}`,
    ]);
    const [heads, ...lines] = alignColumns([['PURPOSE', 'GENERATION', 'ID', 'MADE', 'STATE'], ...rows]);
    printLine(createPaint(process.stdout)('dim', heads!));
    for (const line of lines) printLine(line);
  });
}

export async function rotateKeys(config: Config, purpose: string | undefined): Promise<void> {
  await withStore(config, async (store) => {
    const generation = await store.keys.rotate(purpose);
    if (generation.length === 0) return printLine('There is no key yet: each is created when it is first needed.');
    for (const key of generation) printLine(`${nameOf(key)} signs from now on; existing signatures stay valid.`);
  });
}

export async function retireKeys(
  config: Config,
  purpose: string | undefined,
  { after }: { readonly after: string },
): Promise<void> {
  const replacedBefore = systemClock.now() - readAge(after);
  await withStore(config, async (store) => {
    const retired = await store.keys.retire(replacedBefore, purpose);
    if (retired.length === 0) return printLine(`No key was replaced ${after} or longer ago.`);
    for (const key of retired) printLine(`${nameOf(key)} is retired: its signatures are no longer valid.`);
  });
}

const nameOf = ({ purpose, generation }: KeyGeneration): string => `Generation ${generation} of '${purpose}'`;

function readAge(text: string): number {
  const [, count, unit] = /^(\d{1,5})([hd])$/.exec(text) ?? [];
  if (!count || !unit) {
    const problem = `expected days as 30d or hours as 12h, got '${text}'.`;
    fail('INVALID_ARGUMENT', { argument: '--after', problem });
  }
  return Number(count) * unitMs[unit]!;
}

const showTime = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}
