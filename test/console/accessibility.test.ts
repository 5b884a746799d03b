import { judgePages, laptop, phone } from './judged.ts';

// The long test has the other sizes and colour schemes.
judgePages([
  ['light', laptop],
  ['dark', phone],
]);
