import { judgePages, laptop, phone, tablet, wide } from './judged.ts';

judgePages([
  ['dark', laptop],
  ['light', phone],
  ['light', tablet],
  ['dark', tablet],
  ['light', wide],
  ['dark', wide],
]);
