// All attacks, on data and on the web side.
import type { Attack } from './attack.ts';
import { dataAttacks } from './data/all.ts';
import { webAttacks } from './web/all.ts';

export const attacks: readonly Attack[] = [...dataAttacks, ...webAttacks];
