import { runSuite } from './suite.ts';

runSuite({ basePath: '/shop/ai', inside: false });
