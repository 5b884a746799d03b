import { judgePages } from './judged.ts';
import { laptop, phone } from './looked-at.ts';

// The long test has every size and colour scheme. Here one random pair has both schemes and both widths.
const seed = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);
console.log(`TEST_SEED=${seed}`);
judgePages([seed % 2 === 0 ? ['light', laptop] : ['dark', phone]]);
