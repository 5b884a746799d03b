// All attacks.
import type { Attack } from './attack.ts';
import { dataAttacks } from './data/all.ts';
import { featureAttacks } from './features/all.ts';
import { webAttacks } from './web/all.ts';

export const attacks: readonly Attack[] = [...dataAttacks, ...webAttacks, ...featureAttacks];
