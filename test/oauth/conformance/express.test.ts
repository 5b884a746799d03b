// Inside an Express application that parses bodies before us: a sample, since what differs is how requests arrive.
import { runSuite } from './suite.ts';

runSuite({ basePath: '/ai', inside: true }, 4);
