// Reads the brand of the settings: checks the logo, and the contrast of the color.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { accentFor, type Brand, type BrandLogo, contrast, writeBrandCss } from '../http/brand.ts';
import type { OpenedStore } from '../store/open.ts';

type BrandConfig = Pick<Config, 'brandName' | 'brandLogo' | 'brandColor'>;

const MAX_LOGO_BYTES = 32 * 1024;

/** Undefined without a brand. Throws CONFIGURATION for a logo that cannot be shown. */
export function readBrand({ brandName, brandLogo, brandColor }: BrandConfig): Brand | undefined {
  if (brandName === null && brandLogo === null && brandColor === null) return undefined;
  const logo = brandLogo === null ? undefined : readLogo(brandLogo);
  return { name: brandName ?? undefined, logo, css: writeBrandCss(brandColor, logo) };
}

/** The same, with a warning if the color is changed. */
export function openBrand(config: BrandConfig, observe: Observe): Brand | undefined {
  const brand = readBrand(config);
  const changed = explainColor(config);
  if (changed !== undefined) observe({ type: 'warning', message: changed });
  return brand;
}

/** Pages, mails and authenticator apps show the name of the brand as that of the organization. */
export function withBrandName(identity: OpenedStore['identity'], brand: Brand | undefined): OpenedStore['identity'] {
  const organization = brand?.name;
  if (organization === undefined) return identity;
  const place = async () => ({ ...(await identity.place()), organization });
  return Object.assign(Object.create(identity), { place });
}

/** Says where the color is changed because text in it would be hard to read. Undefined if it is used as it is. */
export function explainColor({ brandColor: color }: BrandConfig): string | undefined {
  if (color === null) return undefined;
  const changed = (['light', 'dark'] as const).flatMap((scheme) => {
    const { accent } = accentFor(color, scheme);
    return accent === color ? [] : [`${accent} on ${scheme} pages`];
  });
  if (changed.length === 0) return undefined;
  const onWhite = contrast(color, '#ffffff').toFixed(1);
  return `SERVICE_BRAND_COLOR: ${color} has a contrast of ${onWhite} to 1 on white, and text needs 4.5 to 1 (WCAG AA) on every background; shown as ${changed.join(' and ')}`;
}

function readLogo(path: string): BrandLogo {
  const refuse = (problem: string, cause?: unknown): never => {
    throw new AppError('CONFIGURATION', { problem: `SERVICE_BRAND_LOGO: '${path}' ${problem}.` }, cause);
  };
  let bytes: Buffer;
  try {
    bytes = readFileSync(resolve(path));
  } catch (cause) {
    return refuse('cannot be read', cause);
  }
  if (bytes.length > MAX_LOGO_BYTES)
    return refuse(`has ${bytes.length} bytes, at most ${MAX_LOGO_BYTES} are allowed: every page contains it`);
  const type = typeOf(bytes) ?? refuse('is neither a PNG nor an SVG file');
  if (type === 'image/svg+xml') {
    const found = findActiveContent(bytes.toString('utf8'));
    if (found !== undefined) refuse(`contains ${found}: export it as a plain SVG, or use a PNG`);
  }
  return { type, bytes };
}

/** By the content: PNG (RFC 2083 section 3.1), or XML with an svg element at the root. */
function typeOf(bytes: Buffer): BrandLogo['type'] | undefined {
  if (bytes.subarray(0, 8).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))) return 'image/png';
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  const root = text.replace(/^\s*(<\?xml[^>]*\?>\s*)?(<!--[\s\S]*?-->\s*)*/, '');
  return /^<svg[\s>]/.test(root) && /<\/svg>\s*$|^<svg[^>]*\/>\s*$/.test(root) ? 'image/svg+xml' : undefined;
}

/**
 * Pages show the logo as an image, in which browsers run no script and load nothing. MCP clients get it too, and may
 * show it in another way.
 */
function findActiveContent(svg: string): string | undefined {
  const rules: readonly (readonly [RegExp, string])[] = [
    [/<!(DOCTYPE|ENTITY)/i, 'a document type'],
    [/<\?(?!xml\s)/i, 'a processing instruction'],
    [
      /<\s*([\w-]+:)?(script|foreignObject|iframe|object|embed|handler|animate|set)\b/i,
      'a script, an animation or foreign content',
    ],
    [/[\s"'/]on[a-z]+\s*=/i, 'an event handler'],
    [/(href|src)\s*=\s*["']?\s*(?!["']?#)/i, 'a link'],
    [/url\(\s*["']?(?!#)|@import/i, 'a link in a style'],
    [/javascript:/i, 'a script'],
  ];
  return rules.find(([pattern]) => pattern.test(svg))?.[1];
}
