// Renders the result of a call: first formatted for people, then the exact text for the model. Below them: its cost,
// its database statements and its entry in the activity log.
import { mayCustomize } from '../../../core/caller.ts';
import type { Statement } from '../../../core/observe/statements.ts';
import { type Html, html } from '../../../http/html.ts';
import type { PlaygroundResult } from '../../../mcp/playground.ts';
import type { Parts, SignedInRequest } from '../../page-request.ts';
import { approvalPage } from '../../paths.ts';
import { barChart, isFigure, lineChart } from '../../ui/chart.ts';
import { empty, facts } from '../../ui/data.ts';
import { hiddenToken } from '../../ui/form.ts';
import { showTime } from '../../ui/times.ts';
import { changeTables, shownValue } from '../approvals/changes-view.ts';
import type { Changes } from '../approvals/review.ts';
import { shownText, typedText } from './exact.ts';
import type { Arguments } from './fields.ts';

interface AnswerView {
  readonly tool: string;
  readonly args: Arguments;
  readonly played: PlaygroundResult;
  /** URL of the page with this call filled in, if it fits. */
  readonly link: string | undefined;
  /** Values for an additional form; the arguments are added to it. */
  readonly form: { readonly action: string; readonly csrf: string };
}

export function answerContent(view: AnswerView, request: SignedInRequest, parts: Parts): Html {
  const { played, tool, args, link } = view;
  const value = played.failure ? undefined : parse(played.text);
  const formatted = played.failure ? undefined : pretty(tool, value);
  const charts = tool === 'aggregate' && !played.failure && chartsOf(args, value);
  return html`<section id="answer" class="answer" aria-label="Answer">
${stateOf(played, value, parts)}
${figures(played)}
${charts}${formatted}
${nextPage(view, value)}
<details class="more"${!formatted && html` open`}><summary>Exact text sent to the model</summary><pre tabindex="0" aria-label="Text of the answer">${shownText(played.text)}</pre></details>
<details class="more"><summary>The call as an assistant sends it</summary><pre tabindex="0" aria-label="The call">${shownText(JSON.stringify({ name: tool, arguments: args }, null, 2))}</pre>${link !== undefined && html`<p class="quietly"><a href="${link}">Link to this call</a>, to save or share. It opens the form and does not run the call.</p>`}</details>
${mayCustomize(request.access.caller.permissionLevel) && plan(played)}
<details class="more"><summary>In the activity log</summary>${logged(played, request, parts)}</details>
</section>`;
}

function stateOf({ failure, entry, text }: PlaygroundResult, value: unknown, { paths }: Parts): Html {
  if (failure) {
    const denied = entry.outcome === 'denied';
    return html`<div class="state bad" role="status"><div><b>${denied ? 'Refused' : 'Failed'}: ${failure.code}</b><span>${shownText(text.slice(text.indexOf(' ') + 1))}</span></div></div>`;
  }
  if (entry.code === 'APPROVAL_PENDING') {
    const { approve } = value as { readonly approve: string };
    const id = approve.slice(approve.lastIndexOf('/') + 1);
    return html`<div class="state wait" role="status"><div><b>Approval pending</b><span>The call has not run yet. After <a href="${paths.path(approvalPage(id))}">this request</a> is approved, make the same call again.</span></div></div>`;
  }
  if (isTrialAnswer(value)) return stateBox('Dry run', 'No data was changed. The call would have this result now.');
  return entry.type === 'write' ? stateBox('Done', 'The changes are saved.') : stateBox('Answered', '');
}

const stateBox = (headline: string, text: string): Html =>
  html`<div class="state" role="status"><div><b>${headline}</b>${text && html`<span>${text}</span>`}</div></div>`;

const isTrialAnswer = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && (value as { readonly dryRun?: unknown }).dryRun === true;

function figures({ tokens, text, entry, statements, moreStatements }: PlaygroundResult): Html {
  const statementCount = statements.length + moreStatements;
  return html`<dl class="figures">
<div><dt>Size</dt><dd>about ${tokens} tokens<small>an estimate; ${text.length} characters</small></dd></div>
<div><dt>Took</dt><dd>${Math.round(entry.durationMs)} ms<small>${statementCount} database ${statementCount === 1 ? 'statement' : 'statements'}</small></dd></div>
</dl>`;
}

interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

/** Undefined for values that are most readable as they are. */
function pretty(tool: string, value: unknown): Html | undefined {
  const { columns, rows, changes, ...rest } = (value ?? {}) as Partial<Table> & { readonly changes?: Changes };
  if (Array.isArray(columns) && Array.isArray(rows)) return html`${tableOf({ columns, rows })}${remarks(rest)}`;
  if (Array.isArray(changes)) return html`${changeTables(tool, changes)}${remarks(rest)}`;
  if (typeof value !== 'object' || value === null) return undefined;
  return html`<pre tabindex="0" aria-label="The formatted answer">${shownText(JSON.stringify(value, null, 2))}</pre>`;
}

/** Periods and moments, as an aggregate writes them. */
const isPeriod = (value: unknown): boolean => typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value);

/** A chart for each measure, if there is one group. Other answers are tables only. */
function chartsOf({ groups }: Arguments, value: unknown): Html | false {
  const { columns, rows, hasMore } = (value ?? {}) as Partial<Table> & { readonly hasMore?: boolean };
  const isOne = (Array.isArray(groups) && groups.length === 1) || typeof groups === 'string';
  if (!isOne || !columns || !rows || rows.length < 2) return false;
  // The groups of one page may be any of the periods, which a line would join.
  const isTime = !hasMore && rows.every(([label]) => label === null || isPeriod(label));
  const shown = isTime ? rows.filter(([label]) => label !== null).sort(byLabel) : rows;
  const labels = shown.map(([label]) => (label === null ? 'nothing' : String(label)));
  const charts = columns.flatMap((name, at) => {
    const figures = shown.map((row) => row[at]);
    if (at === 0 || !figures.some(isFigure) || !figures.every((each) => each === null || isFigure(each))) return [];
    return isTime ? lineChart({ name, labels, figures }) : barChart({ name, labels, figures });
  });
  return charts.length > 0 && html`<div class="charts">${charts}</div>`;
}

const byLabel = ([a]: readonly unknown[], [b]: readonly unknown[]): number => (String(a) < String(b) ? -1 : 1);

function tableOf({ columns, rows }: Table): Html {
  if (rows.length === 0) return empty('No records', 'The call succeeded, but no record matches.');
  const head = columns.map(
    (name, at) => html`<th scope="col"${typeof rows[0]![at] === 'number' && html` class="number"`}>${name}</th>`,
  );
  const body = rows.map(
    (row) => html`<tr>${row.map((cell) => html`<td class="${formatCell(cell)}">${shownValue(cell)}</td>`)}</tr>`,
  );
  return html`<div class="sheet" role="region" aria-label="Records of the answer" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`;
}

/** CSS class that aligns numbers and prevents line breaks in dates and similar values. */
function formatCell(cell: unknown): string {
  if (typeof cell === 'number') return 'number';
  return typeof cell === 'string' && cell.length > 36 ? 'long' : 'short';
}

/** The parts of a result besides its records, unchanged. */
function remarks(rest: Readonly<Record<string, unknown>>): Html {
  const fields = Object.entries(rest).filter(([name]) => name !== 'nextCursor' && name !== 'dryRun');
  return html`<p class="quietly remarks">${fields.map(([name, value]) => html`<span><b>${name}</b> ${typeof value === 'string' ? value : JSON.stringify(value)}</span> `)}</p>`;
}

/** Button for the same call from the cursor of this result. */
function nextPage({ args, form }: AnswerView, value: unknown): Html | false {
  const { nextCursor } = (value ?? {}) as { readonly nextCursor?: unknown };
  if (typeof nextCursor !== 'string') return false;
  return html`<form method="post" action="${form.action}" class="next">${hiddenToken(form)}<input type="hidden" name="mode" value="json"><input type="hidden" name="shown" value="form"><input type="hidden" name="json" value="${typedText(JSON.stringify({ ...args, cursor: nextCursor }))}"><button class="plain slim" name="action" value="next">Next page</button></form>`;
}

/** Statements by source, in order of completion. */
function plan({ statements, moreStatements }: PlaygroundResult): Html {
  const bySource = new Map<string, Statement[]>();
  for (const statement of statements) {
    bySource.set(statement.source, [...(bySource.get(statement.source) ?? []), statement]);
  }
  const count = statements.length + moreStatements;
  return html`<details class="more"><summary>SQL (${count} ${count === 1 ? 'statement' : 'statements'})</summary>
${count === 0 && html`<p class="quietly">No database statement was sent.</p>`}
${[...bySource].map(
  ([source, some]) => html`<p class="source"><b>${source}</b> ${some[0]!.system}</p>
${some.map(
  ({ text, milliseconds, outcome, code }) =>
    html`<pre class="sql" tabindex="0" aria-label="Statement">${shownText(text)}</pre><p class="quietly">${milliseconds.toFixed(1)} ms${outcome === 'failed' && html`, failed${code !== undefined && html` with ${code}`}`}</p>`,
)}`,
)}
${moreStatements > 0 && html`<p class="quietly">${moreStatements} more.</p>`}
<p class="quietly">Values are bound parameters and do not appear in statements. Only administrators and developers see this section.</p></details>`;
}

function logged({ entry }: PlaygroundResult, { access }: SignedInRequest, { paths }: Parts): Html {
  const { id, action, type, collection, recordIds, outcome, code, clientName, startedAt } = entry;
  return html`${facts([
    ['Entry', id === undefined ? 'not written yet' : html`<a href="${paths.path(`/activity/${id}`)}">${id}</a>`],
    ['Action', `${action} (${type})`],
    ['Collection', collection],
    ['Records', recordIds?.slice(0, IDS_SHOWN).join(', ')],
    ['Outcome', `${outcome}${code === undefined ? '' : `, ${code}`}`],
    ['Through', clientName],
    ['When', showTime(startedAt, access.caller.timezone)],
  ])}
<p class="quietly">The log stores names and ids, but no arguments and no answers.</p>`;
}

const IDS_SHOWN = 30;

/** Undefined for invalid JSON. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
