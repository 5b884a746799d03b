// `portico eval <file>`: runs recorded tasks against your server or the demo shop, and reports their token costs.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Config } from '../../src/core/config.ts';
import { AppError, fail } from '../../src/core/errors.ts';
import { findInexactNumber } from '../../src/core/filter/exact-numbers.ts';
import { estimateTokens } from '../../src/mcp/results/tokens.ts';
import { type Evaluation, findProblems } from './definitions.ts';
import { composeReport, hasFailed } from './report.ts';
import { type CountTokens, type Report, runEvaluation } from './run.ts';
import { openAddress, openDemo } from './targets.ts';

interface EvalOptions {
  readonly version: string;
  /** The MCP URL of a server. Absent: a temporary demo shop. */
  readonly url?: string;
}

/** Returns false if a task failed. */
export async function evaluateFile(config: Config, path: string, options: EvalOptions): Promise<boolean> {
  const report = await evaluate(config, await loadEvaluation(path), { ...options, count: estimateTokens });
  process.stdout.write(composeReport(report, 'estimated'));
  return !hasFailed(report);
}

export async function evaluate(
  config: Config,
  evaluation: Evaluation,
  { version, url, count }: EvalOptions & { readonly count: CountTokens },
): Promise<Report> {
  const target =
    url === undefined ? await openDemo(config, version, evaluation.people) : openAddress(url, requireToken(config));
  try {
    return await runEvaluation(evaluation, target, count);
  } finally {
    await target.close();
  }
}

function requireToken({ mcpToken }: Config): string {
  const problem =
    "SERVICE_MCP_TOKEN must contain an application token of the server; 'portico token create' creates one.";
  return mcpToken ?? fail('CONFIGURATION', { problem });
}

/** Loads a JSON file, or a module that exports the evaluation as default or as `evaluation`. */
async function loadEvaluation(path: string): Promise<Evaluation> {
  const definition = await load(path);
  const problems = findProblems(definition);
  if (problems.length > 0) fail('CONFIGURATION', { problem: `${path}: ${problems.join(' ')}` });
  return definition as Evaluation;
}

async function load(path: string): Promise<unknown> {
  try {
    if (path.endsWith('.json')) return parseExactly(readFileSync(path, 'utf8'));
    const module = (await import(pathToFileURL(resolve(path)).href)) as Record<string, unknown>;
    return module.default ?? module.evaluation;
  } catch (cause) {
    const problem = `${path} cannot be read: ${(cause as Error).message}`;
    throw new AppError('CONFIGURATION', { problem }, cause);
  }
}

/** RFC 8259 section 6: a rounded id would be compared with, or sent as, the id of another record. */
function parseExactly(text: string): unknown {
  const inexact = findInexactNumber(text);
  if (inexact !== undefined) throw new Error(inexact);
  return JSON.parse(text);
}
