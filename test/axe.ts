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
  return violations.flatMap(({ id, nodes }) =>
    nodes.slice(0, 3).map(({ html, failureSummary }) => `${name}: ${id} ${html.slice(0, 200)} ${failureSummary}`),
  );
}
