// Reads a Dockerfile, so that its commands can run without a container engine.
import { readFileSync } from 'node:fs';

export interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** The instructions of each stage; the first of a stage is its FROM. */
export function readDockerfile(path: string): readonly (readonly Instruction[])[] {
  const stages: Instruction[][] = [];
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const [, name, text] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (name === undefined || text === undefined) continue;
    if (name === 'FROM') stages.push([]);
    stages.at(-1)!.push({ name, text });
  }
  return stages;
}

export const textOf = (stage: readonly Instruction[], wanted: string): string =>
  stage.findLast(({ name }) => name === wanted)?.text ?? '';

export const environmentOf = (stage: readonly Instruction[]): Record<string, string> =>
  Object.fromEntries(
    textOf(stage, 'ENV')
      .split(' ')
      .map((pair) => pair.split('=') as [string, string]),
  );

/** The command of HEALTHCHECK, ENTRYPOINT or CMD in its JSON form. */
export const commandIn = (text: string): string[] => JSON.parse(text.slice(text.indexOf('['))) as string[];
