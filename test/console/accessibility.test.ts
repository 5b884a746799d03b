import { desk, judgePages, phone } from './judged.ts';

judgePages([
  ['light', desk],
  ['dark', phone],
]);
