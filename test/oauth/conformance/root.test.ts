import { runSuite } from './suite.ts';

runSuite({ basePath: '', inside: false });
