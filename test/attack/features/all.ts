// All attacks on automatic starts, dry runs of workflows, several records at once, and named queries.
import type { Attack } from '../attack.ts';
import { automaticAttacks } from './automatic.ts';
import { dryRunAttacks } from './dry-run.ts';
import { queryAttacks } from './queries.ts';
import { severalAttacks } from './several.ts';

export const featureAttacks: readonly Attack[] = [
  ...automaticAttacks,
  ...dryRunAttacks,
  ...severalAttacks,
  ...queryAttacks,
];
