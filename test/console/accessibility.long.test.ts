import { judgePages } from './judged.ts';
import { laptop, phone, tablet, wide } from './looked-at.ts';

judgePages(
  [laptop, phone, tablet, wide].flatMap((viewport) => [
    ['light', viewport],
    ['dark', viewport],
  ]),
);
