import type { Agent } from '../../src/index.ts';
import { relate } from './relations.ts';

export function customize(agent: Agent): void {
  relate(agent, [
    ['restaurant.city_name', 'geographic.city_name'],
    ['location.city_name', 'geographic.city_name'],
    ['location.restaurant_id', 'restaurant.id'],
  ]);
}
