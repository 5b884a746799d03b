// Routes of the pages of records, and of what collections mean.
import type { Route } from '../../route.ts';
import { runAction, showAction } from './actions.ts';
import { listCollections } from './collections.ts';
import { deleteRecord, saveCreate, saveEdit, showCreate, showEdit } from './edit.ts';
import { changeSelected } from './list/bulk.ts';
import { listRecords } from './list.ts';
import { saveMeanings, showMeanings } from './meanings/collection.ts';
import { saveField, showField } from './meanings/field.ts';
import { listMeanings, saveIntroduction } from './meanings/introduction.ts';
import { saveMetric, showMetric } from './meanings/metric.ts';
import { saveSegment, showSegment } from './meanings/segment.ts';
import { showRecord } from './record.ts';

/** Long texts of a record, twice: once as typed and once for the confirmation. */
const FORM_BYTES = 512 * 1024;

export const dataRoutes: readonly Route[] = [
  { page: '/data', open: false, get: listCollections },
  { page: '/data/:collection', open: false, get: listRecords },
  { page: '/data/:collection/:record', open: false, get: showRecord },
  { page: '/data/:collection/:record/edit', open: false, get: showEdit, post: saveEdit, bodyBytes: FORM_BYTES },
  { page: '/data/:collection/:record/delete', open: false, post: deleteRecord },
  { page: '/bulk/:collection', open: false, post: changeSelected, bodyBytes: FORM_BYTES },
  { page: '/create/:collection', open: false, get: showCreate, post: saveCreate, bodyBytes: FORM_BYTES },
  { page: '/meanings', open: false, admin: true, get: listMeanings, post: saveIntroduction },
  { page: '/meanings/:collection', open: false, admin: true, get: showMeanings, post: saveMeanings },
  { page: '/meanings/:collection/fields/:field', open: false, admin: true, get: showField, post: saveField },
  { page: '/meanings/:collection/new-metric', open: false, admin: true, get: showMetric, post: saveMetric },
  { page: '/meanings/:collection/metrics/:metric', open: false, admin: true, get: showMetric, post: saveMetric },
  { page: '/meanings/:collection/new-segment', open: false, admin: true, get: showSegment, post: saveSegment },
  { page: '/meanings/:collection/segments/:segment', open: false, admin: true, get: showSegment, post: saveSegment },
  { page: '/act/:collection/:action', open: false, get: showAction, post: runAction, bodyBytes: FORM_BYTES },
];
