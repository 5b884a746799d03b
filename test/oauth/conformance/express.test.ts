// A sample in an Express application that parses bodies first. Only the way requests arrive differs.
import { runSuite } from './suite.ts';

runSuite({ basePath: '/ai', inside: true }, 4);
