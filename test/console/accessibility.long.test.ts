import { judgePages, laptop, phone, tablet, wide } from './judged.ts';

judgePages(
  [laptop, phone, tablet, wide].flatMap((viewport) => [
    ['light', viewport],
    ['dark', viewport],
  ]),
);
