// An HTML page with its security headers. Pages work without scripts. The sign-in pages and the console share the
// layout and style. Each sets its own policy for forms.
import type { ServerResponse } from 'node:http';
import { hashToken } from '../core/secret.ts';
import { type Brand, brandOf } from './brand.ts';
import { type Html, html, trustedHtml } from './html.ts';
import { style } from './style.ts';

export interface EnvironmentInfo {
  readonly organization: string;
  readonly project: string;
  readonly environment: string;
}

export interface Page {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Absent for a part of a page. */
  readonly theme?: PageTheme;
}

/** A style sheet with the headers of the pages that use it. */
export interface PageTheme {
  readonly style: Html;
  readonly headers: Readonly<Record<string, string>>;
  /** The same theme with the style sheet of the brand. */
  readonly withBrand: (brand: Brand) => PageTheme;
}

/** The policy forbids scripts, external resources and frames; `policy` is appended to it. */
export function createPageTheme(sheet: string, policy: string, headers: Readonly<Record<string, string>>): PageTheme {
  const hash = Buffer.from(hashToken(sheet), 'base64url').toString('base64');
  const branded = new WeakMap<Brand, PageTheme>();
  return {
    withBrand(brand) {
      const theme = branded.get(brand) ?? createPageTheme(sheet + brand.css, policy, headers);
      branded.set(brand, theme);
      return theme;
    },
    style: trustedHtml(sheet),
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; frame-ancestors 'none'${policy}`,
      'X-Frame-Options': 'DENY',
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'no-store',
      ...headers,
    },
  };
}

/**
 * For the sign-in pages. They have no form-action, because Chrome also applies it to the redirects after a form, which
 * go to the client. They have no Cross-Origin-Opener-Policy, because web assistants open the page as a popup and wait
 * for its return.
 */
export const signInTheme = createPageTheme(style, '', { 'Referrer-Policy': 'no-referrer' });

/** Sets the headers, and returns the text of the page with the brand of the server. */
export function preparePage(res: ServerResponse, page: Page): string {
  const brand = brandOf(res);
  const { text, headers } = brand ? withBrand(page, brand) : page;
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  return text;
}

export function sendPage(res: ServerResponse, status: number, page: Page): void {
  const text = preparePage(res, page);
  res.writeHead(status).end(text);
}

/** The name on pages that show no environment. What users write is escaped, so only our own markup has this text. */
const productName = html`<strong>Portico</strong>`;

function withBrand({ text, headers, theme }: Page, brand: Brand): Pick<Page, 'text' | 'headers'> {
  if (!theme) return { text, headers };
  const branded = theme.withBrand(brand);
  const styled = text.replace(theme.style.text, () => branded.style.text);
  const name = brand.name;
  const named =
    name === undefined ? styled : styled.replace(productName.text, () => html`<strong>${name}</strong>`.text);
  return { text: named, headers: branded.headers };
}

export const logo = html`<svg viewBox="0 0 36 36" aria-hidden="true"><rect class="tile" width="36" height="36" rx="10"/><g fill="none" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round"><path d="m8.5 14 9.5-5.5 9.5 5.5z"/><path d="M11.5 18v6M18 18v6M24.5 18v6M8.5 27.5h19"/></g></svg>`;

/** `kind` is a class of the body, for the style sheet; `head` is added to the head. */
export function createPage(theme: PageTheme, title: string, body: Html, kind?: string, head?: Html | false): Page {
  const { text } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${theme.style}</style>${head && html`\n${head}`}
</head>
<body${kind && html` class="${kind}"`}>
${body}
</body>
</html>
`;
  return { text, headers: theme.headers, theme };
}

/** A page with one centered card under the name of the place. */
export function createCard(
  theme: PageTheme,
  title: string,
  environment: EnvironmentInfo | undefined,
  content: Html,
  footer?: Html,
): Page {
  return createPage(
    theme,
    title,
    html`<main>
<div class="brand">${logo}<div>${environment ? html`<strong>${environment.organization}</strong>` : productName}${environment && html`<span>${environment.project} · ${environment.environment}</span>`}</div></div>
${content}
</main>
${footer && html`<footer>${footer}</footer>`}`,
  );
}

interface Message {
  readonly title: string;
  readonly text: string;
  readonly detail?: string;
  readonly link?: { readonly href: string; readonly text: string };
}

export function messagePage({ title, text, detail, link }: Message, theme: PageTheme = signInTheme): Page {
  return createCard(
    theme,
    title,
    undefined,
    html`<h1>${title}</h1>
<p class="lead" role="alert">${text}</p>
${detail && html`<p><code>${detail}</code></p>`}
${link && html`<p class="below"><a class="back" href="${link.href}">${link.text}</a></p>`}`,
  );
}
