import type { Agent } from '../../src/index.ts';
import { relate } from './relations.ts';

export function customize(agent: Agent): void {
  relate(agent, [
    ['category.business_id', 'business.business_id'],
    ['checkin.business_id', 'business.business_id'],
    ['neighbourhood.business_id', 'business.business_id'],
    ['review.business_id', 'business.business_id'],
    ['review.user_id', 'users.user_id'],
    ['tip.business_id', 'business.business_id'],
    ['tip.user_id', 'users.user_id'],
  ]);
}
