import type { Agent } from '../../src/index.ts';
import { relate } from './relations.ts';

export function customize(agent: Agent): void {
  relate(agent, [
    ['sbdailyprice.sbdptickerid', 'sbticker.sbtickerid'],
    ['sbtransaction.sbtxcustid', 'sbcustomer.sbcustid'],
    ['sbtransaction.sbtxtickerid', 'sbticker.sbtickerid'],
  ]);
}
