// Counters, gauges and histograms in the Prometheus text format 0.0.4. Only code sets label values. Caller input must
// never become a label.

/** The values of the labels, in the order of their names. */
type Values = readonly string[];

interface Described {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

interface Counter {
  add(values: Values, by?: number): void;
}

interface Gauge {
  set(values: Values, to: number): void;
}

interface Histogram {
  observe(values: Values, value: number): void;
}

export interface Registry {
  counter(described: Described): Counter;
  gauge(described: Described): Gauge;
  /** `bounds`: the upper bounds of the buckets, ascending. The bucket +Inf is added. */
  histogram(described: Described & { readonly bounds: readonly number[] }): Histogram;
  /** Runs before every scrape, for values that are read instead of counted. */
  collect(collector: () => void): void;
  text(): string;
}

export const contentType = 'text/plain; version=0.0.4; charset=utf-8';

interface Series {
  readonly values: Values;
  count: number;
}

interface Distribution {
  readonly values: Values;
  readonly buckets: number[];
  sum: number;
  count: number;
}

export function createRegistry(): Registry {
  const metrics: (() => string)[] = [];
  const collectors: (() => void)[] = [];

  const plain = (type: 'counter' | 'gauge', described: Described) => {
    const series = createSeries<Series>((values) => ({ values, count: 0 }));
    metrics.push(() =>
      write(
        type,
        described,
        series.all().map(({ values, count }) => line(described.name, pairs(described, values), count)),
      ),
    );
    return series;
  };

  return {
    counter(described) {
      const series = plain('counter', described);
      return {
        add: (values, by = 1) => {
          series.of(values).count += by;
        },
      };
    },
    gauge(described) {
      const series = plain('gauge', described);
      return {
        set: (values, to) => {
          series.of(values).count = to;
        },
      };
    },
    histogram(described) {
      const { bounds, name } = described;
      const series = createSeries<Distribution>((values) => ({
        values,
        buckets: bounds.map(() => 0),
        sum: 0,
        count: 0,
      }));
      const linesOf = ({ values, buckets, sum, count }: Distribution): string[] => {
        const labels = pairs(described, values);
        let below = 0;
        return [
          ...bounds.map((bound, at) => {
            below += buckets[at]!;
            return line(`${name}_bucket`, [...labels, ['le', String(bound)]], below);
          }),
          line(`${name}_bucket`, [...labels, ['le', '+Inf']], count),
          line(`${name}_sum`, labels, sum),
          line(`${name}_count`, labels, count),
        ];
      };
      metrics.push(() => write('histogram', described, series.all().flatMap(linesOf)));
      return {
        observe(values, value) {
          const one = series.of(values);
          one.count++;
          one.sum += value;
          const at = bounds.findIndex((bound) => value <= bound);
          if (at >= 0) one.buckets[at]!++;
        },
      };
    },
    collect(collector) {
      collectors.push(collector);
    },
    text() {
      for (const collector of collectors) collector();
      return metrics.map((metric) => metric()).join('');
    },
  };
}

function createSeries<T>(make: (values: Values) => T) {
  const seriesByKey = new Map<string, T>();
  return {
    of(values: Values): T {
      const key = values.join('\0');
      let found = seriesByKey.get(key);
      if (!found) {
        found = make(values);
        seriesByKey.set(key, found);
      }
      return found;
    },
    all: (): T[] => [...seriesByKey.values()],
  };
}

type Pair = readonly [name: string, value: string];

const pairs = ({ labels = [] }: Described, values: Values): Pair[] =>
  labels.map((name, at) => [name, values[at] ?? ''] as const);

function write(type: string, { name, help }: Described, lines: readonly string[]): string {
  if (lines.length === 0) return '';
  return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function line(name: string, labels: readonly Pair[], value: number): string {
  const labelText = labels.map(([label, text]) => `${label}="${escapeValue(text)}"`).join(',');
  return `${name}${labelText ? `{${labelText}}` : ''} ${value}\n`;
}

const escapeHelp = (text: string): string => text.replace(/\\/g, '\\\\').replace(/\n/g, '\\n');
const escapeValue = (text: string): string => escapeHelp(text).replace(/"/g, '\\"');
