import type { Agent } from '../../src/index.ts';
import { relate } from './relations.ts';

export function customize(agent: Agent): void {
  relate(agent, [
    ['airport.state_code', 'state.state_code'],
    ['airport_service.city_code', 'city.city_code'],
    ['airport_service.airport_code', 'airport.airport_code'],
    ['city.state_code', 'state.state_code'],
    ['equipment_sequence.aircraft_code', 'aircraft.aircraft_code'],
    ['fare.from_airport', 'airport.airport_code', 'origin', 'fares_from'],
    ['fare.to_airport', 'airport.airport_code', 'destination', 'fares_to'],
    ['fare.fare_airline', 'airline.airline_code'],
    ['fare.fare_basis_code', 'fare_basis.fare_basis_code'],
    ['flight.from_airport', 'airport.airport_code', 'origin', 'departures'],
    ['flight.to_airport', 'airport.airport_code', 'destination', 'arrivals'],
    ['flight.airline_code', 'airline.airline_code'],
    ['flight_fare.flight_id', 'flight.flight_id'],
    ['flight_fare.fare_id', 'fare.fare_id'],
    ['flight_leg.flight_id', 'flight.flight_id'],
    ['flight_stop.flight_id', 'flight.flight_id'],
    ['flight_stop.stop_airport', 'airport.airport_code', 'airport'],
    ['ground_service.city_code', 'city.city_code'],
    ['ground_service.airport_code', 'airport.airport_code'],
  ]);
}
