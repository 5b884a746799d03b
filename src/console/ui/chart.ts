// Charts without scripts: a bar for each label, or a line along periods. The page has the same figures as a table, so a
// chart is one image for screen readers.
import { type Html, html } from '../../http/html.ts';

/** The lowest and the highest figure; zero is always between them. */
interface Scale {
  readonly low: number;
  readonly high: number;
}

export function scaleOf(figures: readonly unknown[]): Scale {
  const numbers = figures.flatMap((each) => numberOf(each) ?? []);
  return { low: Math.min(0, ...numbers), high: Math.max(0, ...numbers) };
}

/** Long numbers are texts of digits. */
function numberOf(figure: unknown): number | undefined {
  const isNumber = typeof figure === 'number' || (typeof figure === 'string' && /^-?\d+(\.\d+)?$/.test(figure));
  return isNumber && Number.isFinite(Number(figure)) ? Number(figure) : undefined;
}

export const isFigure = (value: unknown): boolean => numberOf(value) !== undefined;

/** From zero to the figure; negative figures extend to the left. */
export function bar(figure: unknown, { low, high }: Scale): Html {
  const number = numberOf(figure) ?? 0;
  const share = (size: number) => (high > low ? Math.round((size / (high - low)) * 1000) / 10 : 0);
  return html`<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect x="${share(Math.min(0, number) - low)}" width="${share(Math.abs(number))}" height="8"/></svg>`;
}

interface Chart {
  readonly name: string;
  readonly labels: readonly string[];
  readonly figures: readonly unknown[];
}

const MOST_BARS = 15;
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const short = (figure: unknown): string => {
  const number = numberOf(figure);
  return number === undefined ? '–' : compact.format(number);
};

export function barChart({ name, labels, figures }: Chart): Html {
  const scale = scaleOf(figures);
  const more = labels.length - MOST_BARS;
  const rows = labels
    .slice(0, MOST_BARS)
    .map(
      (text, at) =>
        html`<span class="chart-label">${text}</span><span class="bar">${bar(figures[at], scale)}</span><span class="number">${short(figures[at])}</span>`,
    );
  return figure(
    name,
    html`<div class="chart-bars">${rows}</div>${more > 0 && html`<p class="quietly">${more} more in the table.</p>`}`,
  );
}

/** `labels` are dates in ascending order. A null figure interrupts the line. */
export function lineChart({ name, labels, figures }: Chart): Html {
  const { low, high } = scaleOf(figures);
  // By time: a period without a group leaves a gap of its length.
  const times = labels.map((text) => Date.parse(text));
  const [first, last] = [times[0]!, times.at(-1)!];
  const x = (at: number) => (last > first ? ((times[at]! - first) / (last - first)) * 100 : 50);
  const y = (number: number) => 100 - ((number - low) / (high - low || 1)) * 100;
  const round = (coordinate: number) => Math.round(coordinate * 100) / 100;
  let path = '';
  let isOpen = false;
  figures.forEach((each, at) => {
    const number = numberOf(each);
    if (number !== undefined) path += `${isOpen ? 'L' : 'M'}${round(x(at))} ${round(y(number))}`;
    // A single point is a line of length zero, which its round ends make visible.
    if (number !== undefined && !isOpen) path += `h0`;
    isOpen = number !== undefined;
  });
  return figure(
    name,
    html`<div class="chart-line"><span class="chart-high">${short(high)}</span><span class="chart-low">${short(low)}</span><svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true"><path class="zero" d="M0 ${round(y(0))}H100"/><path d="${path}"/></svg><span class="chart-first">${labels[0]}</span>${labels.length > 1 && html`<span class="chart-last">${labels.at(-1)}</span>`}</div>`,
  );
}

/** The parts of the image are hidden from screen readers: the table has the figures. */
const figure = (name: string, content: Html): Html =>
  html`<figure class="chart"><figcaption>${name}</figcaption><div role="img" aria-label="Chart of ${name}. The table has the figures.">${content}</div></figure>`;
