import { desk, judgePages, phone } from './judged.ts';

judgePages([
  ['dark', desk],
  ['light', phone],
]);
