// The operator's brand on pages: a style sheet that is added to that of a page. It sets the colors and shows the logo as
// a data URI, which the policy of the pages allows and in which a browser runs no script.
import type { ServerResponse } from 'node:http';

export interface Brand {
  /** Replaces the name of the organization, and Portico. */
  readonly name: string | undefined;
  readonly logo: BrandLogo | undefined;
  /** Added at the end of each style sheet. */
  readonly css: string;
}

export interface BrandLogo {
  readonly type: 'image/png' | 'image/svg+xml';
  readonly bytes: Buffer;
}

const brands = new WeakMap<ServerResponse, Brand>();

/** Pages that are sent with this response have the brand. */
export function setBrand(res: ServerResponse, brand: Brand): void {
  brands.set(res, brand);
}

/** Sends the logo as a file. An SVG that is opened by itself runs no script. */
export function sendLogo(res: ServerResponse, { type, bytes }: BrandLogo): void {
  res.writeHead(200, {
    'Content-Type': type,
    'Content-Length': bytes.length,
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'Cache-Control': 'public, max-age=3600',
  });
  res.end(res.req.method === 'HEAD' ? undefined : bytes);
}

export const brandOf = (res: ServerResponse): Brand | undefined => brands.get(res);

type Rgb = readonly [red: number, green: number, blue: number];

/** The backgrounds of style.ts on which the accent is a text. */
const surfaces = {
  light: { card: '#ffffff', bg: '#f5f4f0' },
  dark: { card: '#1e1f1d', bg: '#141513' },
} as const;
const [WHITE, BLACK] = ['#ffffff', '#101010'] as const;
/** WCAG 2.2, 1.4.3 (AA). */
const MIN_CONTRAST = 4.5;

interface Accent {
  readonly accent: string;
  /** The text of a button. */
  readonly ink: string;
  readonly hover: string;
  readonly tint: string;
}

/** The color, made darker for light pages and lighter for dark ones as far as its contrast needs it. */
export function accentFor(color: string, scheme: 'light' | 'dark'): Accent {
  const { card, bg } = surfaces[scheme];
  const end = scheme === 'light' ? BLACK : WHITE;
  for (let share = 0; ; share += 0.02) {
    const accent = mix(color, end, Math.min(share, 1));
    const tint = mix(card, accent, 0.1);
    const ink = contrast(accent, WHITE) >= contrast(accent, BLACK) ? WHITE : BLACK;
    const isReadable = [card, bg, tint].every((surface) => contrast(accent, surface) >= MIN_CONTRAST);
    if (!(isReadable && contrast(accent, ink) >= MIN_CONTRAST) && share < 1) continue;
    // Away from the text of the button.
    return { accent, ink, hover: mix(accent, ink === WHITE ? BLACK : WHITE, 0.2), tint };
  }
}

/** WCAG 2.2: from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

export function writeBrandCss(color: string | null, logo: BrandLogo | undefined): string {
  const variables = (scheme: 'light' | 'dark') => {
    const { accent, ink, hover, tint } = accentFor(color ?? '', scheme);
    return `:root{--accent:${accent};--accent-ink:${ink};--accent-hover:${hover};--tint:${tint}}`;
  };
  const colors =
    color === null ? '' : `${variables('light')}@media (prefers-color-scheme:dark){${variables('dark')}}\n`;
  const image = logo
    ? `.brand svg{display:none}.brand::before{content:"";flex:none;width:36px;height:36px;background:url("data:${logo.type};base64,${logo.bytes.toString('base64')}") center/contain no-repeat}\n`
    : '';
  return colors + image;
}

function luminance(color: string): number {
  const [red, green, blue] = toRgb(color).map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function mix(from: string, to: string, share: number): string {
  const [start, end] = [toRgb(from), toRgb(to)];
  const values = start.map((value, at) => Math.round(value + ((end[at] as number) - value) * share));
  return `#${values.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

const toRgb = (color: string): Rgb =>
  [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16)) as unknown as Rgb;
