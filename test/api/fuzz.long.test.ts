import { proveFuzzed } from './fuzzed.ts';

proveFuzzed(20_000);
