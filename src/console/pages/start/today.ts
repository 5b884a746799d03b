// What happened since midnight in the user's time zone: four numbers, and the calls by hour as an SVG image.
import { type Html, html } from '../../../http/html.ts';
import type { ActivityTally } from '../../../store/audit/activity-types.ts';
import type { Parts, SignedInRequest } from '../../page-request.ts';
import { startOfDay } from '../../ui/days.ts';

const HOUR_MS = 3_600_000;

/** Administrators see all calls, as on the activity page. */
export async function todaySection(
  { access }: SignedInRequest,
  { store, clock, paths }: Pick<Parts, 'store' | 'clock' | 'paths'>,
): Promise<Html> {
  const { id, permissionLevel, timezone } = access.caller;
  const now = clock.now();
  const day = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone }).format(now);
  const from = startOfDay(day, timezone) ?? now;
  const isAdmin = permissionLevel === 'admin';
  const rows = await store.activity.tally({ from, ...(!isAdmin && { userId: id }) });
  const sum = (isCounted: (row: ActivityTally) => boolean): number =>
    rows.filter(isCounted).reduce((total, { count }) => total + count, 0);
  const numbers: readonly (readonly [name: string, count: number, query: string])[] = [
    ['Calls', sum(({ isDecision }) => !isDecision), ''],
    ['Writes', sum((row) => row.type === 'write' && !row.dryRun && !row.isDecision), '&type=write'],
    ['Decisions', sum(({ isDecision }) => isDecision), ''],
    ['Failed', sum(({ outcome }) => outcome === 'failed'), '&outcome=failed'],
  ];
  const tiles = numbers.map(
    ([name, count, query]) =>
      html`<li><a href="${paths.path('/activity')}?from=${day}${query}"><b>${count.toLocaleString('en')}</b>${name}</a></li>`,
  );
  const isQuiet = rows.length === 0;
  return html`<section aria-labelledby="today"><h2 class="plainly" id="today">Today${isAdmin && ', all users'}</h2>
<ul class="tiles">${tiles}</ul>
${isQuiet ? html`<p class="quietly">No calls since midnight.</p>` : chart(rows, Math.floor((now - from) / HOUR_MS))}</section>`;
}

const isFailure = ({ outcome }: ActivityTally): boolean => outcome === 'failed' || outcome === 'denied';

const WIDTH = 720;
const HEIGHT = 120;
const BASE = 100;

/** `current`: the hour of now. */
function chart(rows: readonly ActivityTally[], current: number): Html {
  const hours = Math.max(24, current + 1);
  const counts = Array.from({ length: hours }, () => ({ good: 0, failed: 0 }));
  for (const row of rows) {
    const at = counts[row.hour];
    if (at) at[isFailure(row) ? 'failed' : 'good'] += row.count;
  }
  const most = Math.max(1, ...counts.map(({ good, failed }) => good + failed));
  const step = WIDTH / hours;
  const bars = counts.map(({ good, failed }, hour) => {
    const scale = (count: number) => (count === 0 ? 0 : Math.max(2, (count / most) * BASE));
    const x = (hour * step + 3).toFixed(1);
    const [low, high] = [scale(good), scale(failed)];
    const bar = (name: string, height: number, bottom: number) =>
      height > 0 &&
      html`<rect class="${name}" x="${x}" y="${(bottom - height).toFixed(1)}" width="${(step - 6).toFixed(1)}" height="${height.toFixed(1)}" rx="2"/>`;
    return html`${bar('hour-good', low, BASE)}${bar('hour-failed', high, BASE - low)}`;
  });
  const labels = [0, 6, 12, 18].map(
    (hour) => html`<text x="${(hour * step + 3).toFixed(1)}" y="${HEIGHT - 4}">${`${hour}`.padStart(2, '0')}:00</text>`,
  );
  const texts = counts.flatMap(({ good, failed }, hour) =>
    good + failed === 0 ? [] : `${hour}:00 ${good + failed}${failed > 0 ? ` (${failed} failed)` : ''}`,
  );
  return html`<svg class="hours" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Entries by hour: ${texts.join(', ')}"><path d="M0 ${BASE}.5H${WIDTH}"/>${bars}${labels}</svg>
<p class="hours-key"><span class="key-good"></span>Completed<span class="key-failed"></span>Failed or denied</p>`;
}
