// Automatic starts in words, and the usual schedules that the form offers instead of a cron expression.
import type { Access } from '../../../../core/caller.ts';
import type { StartResult, StartRule, StartSettings } from '../../../../store/workflows/start-rule-types.ts';
import type { Option } from '../../../ui/form.ts';

/** How often, without a cron expression: the fields after minute and hour. `hour`: every hour. */
const frequencies = {
  hour: { text: 'Every hour', rest: '* * *' },
  day: { text: 'Every day', rest: '* * *' },
  weekdays: { text: 'Monday to Friday', rest: '* * MON-FRI' },
  week: { text: 'Every Monday', rest: '* * MON' },
  month: { text: 'On the first of the month', rest: '1 * *' },
} as const;
type Frequency = keyof typeof frequencies;

export const frequencyOptions: readonly Option[] = [
  ...Object.entries(frequencies).map(([name, { text }]): Option => [name, text]),
  ['cron', 'Cron expression'],
];

const isFrequency = (name: string): name is Frequency => Object.hasOwn(frequencies, name);

/** `time`: `HH:MM`. Undefined for a frequency that has no cron expression of its own, or without a time. */
export function toCron(frequency: string, time: string): string | undefined {
  const [, hour, minute] = /^(\d\d):(\d\d)$/.exec(time) ?? [];
  if (!isFrequency(frequency) || hour === undefined || minute === undefined) return undefined;
  return `${Number(minute)} ${frequency === 'hour' ? '*' : Number(hour)} ${frequencies[frequency].rest}`;
}

interface Chosen {
  readonly frequency: string;
  readonly time: string;
}

export function fromCron(cron: string): Chosen {
  const [, minute, hour, rest] = /^(\d{1,2}) (\d{1,2}|\*) (.*)$/.exec(cron) ?? [];
  const names = Object.keys(frequencies) as Frequency[];
  const frequency = names.find((name) => frequencies[name].rest === rest && (name === 'hour') === (hour === '*'));
  if (minute === undefined || hour === undefined || !frequency) return { frequency: 'cron', time: '08:00' };
  return { frequency, time: `${(hour === '*' ? '0' : hour).padStart(2, '0')}:${minute.padStart(2, '0')}` };
}

/** Such as `Every day at 08:00`, or the cron expression. */
export function describeStart(settings: StartSettings): string {
  if (settings.kind === 'change') {
    const { operations } = settings;
    if (operations.length === 2) return 'When a record is created or changed';
    return operations[0] === 'create' ? 'When a record is created' : 'When a record is changed';
  }
  const { cron, timezone } = settings;
  const { frequency, time } = fromCron(cron);
  if (!isFrequency(frequency)) return `Cron ${cron}, ${timezone}`;
  const at = frequency === 'hour' ? `at minute ${Number(time.slice(3))}` : `at ${time}`;
  return `${frequencies[frequency].text} ${at}, ${timezone}`;
}

/** The result counts records that the person of the rule sees, and other people may not (CWE-200). */
export const resultFor = ({ userId, lastResult }: StartRule, { caller }: Access): StartResult | null =>
  userId === caller.id ? lastResult : null;

/** Such as `3 runs started. 2 records had an active run.` A result with a problem has started no run. */
export function describeResult({ started, active, unlisted = 0, hasMore, problem }: StartResult): string {
  const count = (number: number, name: string) => `${number} ${name}${number === 1 ? '' : 's'}`;
  return [
    problem !== undefined && `No run started. ${problem}`,
    problem === undefined && started + active + unlisted === 0 && 'No record matched.',
    problem === undefined && started + active > 0 && `${count(started, 'run')} started.`,
    active > 0 && `${count(active, 'record')} had an active run.`,
    hasMore && 'More records matched than the limit allows. The others got no run.',
    unlisted > 0 && `${count(unlisted, 'changed record')} got no run, because only the number of them is known.`,
  ]
    .filter(Boolean)
    .join(' ');
}
