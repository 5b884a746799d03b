// A sample of the requests of the long test.
import { proveFuzzed } from './fuzzed.ts';

proveFuzzed(600);
