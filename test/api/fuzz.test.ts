// A sample of what the long test asks.
import { proveFuzzed } from './fuzzed.ts';

proveFuzzed(600);
