// All attacks on data.
import type { Attack } from '../attack.ts';
import { approvalAttacks } from './approvals.ts';
import { commitAttacks } from './commits.ts';
import { cursorAttacks } from './cursors.ts';
import { engineAttacks } from './engines.ts';
import { entranceAttacks } from './entrances.ts';
import { exportAttacks } from './exports.ts';
import { faultAttacks } from './faults.ts';
import { injectionAttacks } from './injection.ts';
import { keyAttacks } from './keys.ts';
import { limitAttacks } from './limits.ts';
import { noteAttacks } from './notes.ts';
import { numberAttacks } from './numbers.ts';
import { processAttacks } from './processes.ts';
import { repeatAttacks } from './repeats.ts';
import { scopeAttacks } from './scope.ts';
import { stallAttacks } from './stalls.ts';
import { workflowAttacks } from './workflows.ts';

export const dataAttacks: readonly Attack[] = [
  ...engineAttacks,
  ...stallAttacks,
  ...commitAttacks,
  ...numberAttacks,
  ...cursorAttacks,
  ...workflowAttacks,
  ...exportAttacks,
  ...keyAttacks,
  ...scopeAttacks,
  ...entranceAttacks,
  ...approvalAttacks,
  ...repeatAttacks,
  ...injectionAttacks,
  ...limitAttacks,
  ...faultAttacks,
  ...processAttacks,
  ...noteAttacks,
];
