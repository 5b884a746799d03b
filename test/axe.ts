// A page judged by axe-core. The pages' policy must be set aside for it (`bypassCSP`), since they allow no script but ours.
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

/** A line for each fault, which begins with `name`; none when the page is as it should be. */
export async function findFaults(page: Page, name: string): Promise<string[]> {
  await page.evaluate(judge);
  const { violations, passes } = (await page.evaluate('axe.run({ resultTypes: ["violations"] })')) as Judged;
  // A judge that finds nothing to judge would find nothing wrong.
  if (passes.length < 10) return [`${name}: judged by ${passes.length} rules only`];
  return violations.flatMap(({ id, nodes }) =>
    nodes.slice(0, 3).map(({ html, failureSummary }) => `${name}: ${id} ${html.slice(0, 200)} ${failureSummary}`),
  );
}
