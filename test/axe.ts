// Checks a page with axe-core. This needs `bypassCSP`, because the policy of the pages allows only our own script.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const judge = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Judged {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
  readonly passes: readonly unknown[];
}

/** One line for each fault, starting with `name`; empty if the page has no faults. */
export async function findFaults(page: Page, name: string): Promise<string[]> {
  await page.evaluate(judge);
  const { violations, passes } = (await page.evaluate('axe.run({ resultTypes: ["violations"] })')) as Judged;
  // With too few passed rules, axe-core did not really check the page.
  if (passes.length < 10) return [`${name}: judged by ${passes.length} rules only`];
  const layout = (await page.evaluate(findLayoutFaults)) as string[];
  return [
    ...layout.map((fault) => `${name}: ${fault}`),
    ...violations.flatMap(({ id, nodes }) =>
      nodes.slice(0, 3).map(({ html, failureSummary }) => `${name}: ${id} ${html.slice(0, 200)} ${failureSummary}`),
    ),
  ];
}

/**
 * A page must not scroll sideways, and no control may cover another one, be cut at the side of the window, be out of
 * sight in a table of a wide window, or be wider than its text needs by much: buttons of lists are as wide as their text. No link of the breadcrumb stands again above
 * the heading.
 */
const findLayoutFaults = `(() => {
  const faults = [];
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) faults.push('wider than the window: ' + document.documentElement.scrollWidth);
  const clips = (element) => {
    for (let up = element.parentElement; up; up = up.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(up);
      if (overflowX !== 'visible' || overflowY !== 'visible') return true;
    }
    return false;
  };
  const seen = [...document.querySelectorAll('a[href],button,input:not([type=hidden]),select,textarea,summary')]
    .filter((element) => element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true }) && !element.closest('.unseen,.skip'))
    .flatMap((element) => [...element.getClientRects()].map((box) => ({ element, box, clipped: clips(element) })))
    .filter(({ box }) => box.width > 1 && box.height > 1 && box.right > 0);
  const text = ({ element }) => element.tagName.toLowerCase() + ' "' + (element.textContent.trim() || element.name || '').slice(0, 40) + '"';
  for (const one of seen) {
    if (!one.clipped && (one.box.right > width + 1 || one.box.left < -1)) faults.push('cut: ' + text(one));
    const frame = width >= 1300 && one.element.matches('button') && one.element.closest('.scroll');
    if (frame && one.box.right > frame.getBoundingClientRect().right + 1) faults.push('out of sight: ' + text(one));
    if (one.element.matches('.slim,.table button') && one.box.width > 420) faults.push('too wide: ' + text(one));
  }
  for (let at = 0; at < seen.length; at += 1) {
    for (let next = at + 1; next < seen.length; next += 1) {
      const [a, b] = [seen[at], seen[next]];
      // An open menu lies above the page.
      if (a.element.closest('.menu[open]') !== b.element.closest('.menu[open]')) continue;
      if (a.clipped !== b.clipped || a.element.contains(b.element) || b.element.contains(a.element)) continue;
      const across = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
      const down = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
      if (across > 2 && down > 2) faults.push('overlap: ' + text(a) + ' and ' + text(b));
    }
  }
  for (const element of document.querySelectorAll('span[aria-hidden],.granted,.pulse')) {
    const { borderRadius } = getComputedStyle(element);
    const { width: wide, height } = element.getBoundingClientRect();
    if (borderRadius === '50%' && Math.abs(wide - height) > 1) faults.push('oval: ' + element.className);
  }
  const crumbs = [...document.querySelectorAll('.crumbs a')].map(({ href }) => href);
  const heading = [...document.querySelectorAll('main h1')].at(-1);
  for (const link of document.querySelectorAll('main a[href]'))
    if (heading && !link.closest('.crumbs') && crumbs.includes(link.href) && link.compareDocumentPosition(heading) & Node.DOCUMENT_POSITION_FOLLOWING)
      faults.push('the breadcrumb again: ' + link.textContent);
  return faults.slice(0, 8);
})()`;
