// The settings of this process, for administrators. They are read-only: change a setting at its source and restart.
// `portico doctor` prints the same findings (core/config). One button reads the tables of the served databases again.
import type { SourceHealth } from '../../../agent/sources/health.ts';
import { type Finding, findProblems } from '../../../core/config/findings.ts';
import { describeSettings, type ShownSetting, settingGroups } from '../../../core/config/shown.ts';
import { messageForOperator } from '../../../core/errors/connection.ts';
import { fail } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { empty, table } from '../../ui/data.ts';
import { buttonTo } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { flash } from '../../ui/notices.ts';

const under = '/settings';

/** Reads the tables now. A failure is shown, and the previous tables stay in use. */
export async function reloadTables(request: SignedInRequest, parts: Parts): Promise<Answer> {
  if (parts.reloadTables === null) return fail('NOT_FOUND', { path: under });
  try {
    await parts.reloadTables();
  } catch (error) {
    return showSettings(request, parts, messageForOperator(error as Error));
  }
  return { to: `${under}?done=reloaded` };
}

/** `problem`: why the tables could not be read. */
export async function showSettings(request: SignedInRequest, parts: Parts, problem?: string): Promise<Answer> {
  const { config, paths } = parts;
  const all = describeSettings(config);
  const chosen = request.query.get('shown') === 'set' ? all.filter(isSet) : all;
  const count = all.filter(isSet).length;
  const filterLink = (query: string, name: string, isCurrent: boolean) =>
    html`<a href="${paths.path(under)}${query}"${isCurrent && html` aria-current="true"`}>${name}</a>`;
  const groups = settingGroups.flatMap(([title, names]) => {
    const rows = names.flatMap((name) => chosen.find((setting) => setting.name === name) ?? []);
    return rows.length === 0 ? [] : [group(title, rows)];
  });
  const reload =
    parts.reloadTables !== null &&
    buttonTo(request, parts, { page: under, action: 'reload', text: 'Read the tables again' });
  const content = html`<h1>Settings</h1>
${flash({ reloaded: 'The tables were read again, and are served as they are now.' }, request.query)}
${problem !== undefined && html`<p class="state bad" role="alert"><b>The previous tables stay in use.</b> ${problem}</p>`}
<p class="lead">The settings of this process. To change one, set its variable or flag and restart. To read a value from a file, append <code>_FILE</code> to the variable's name.</p>
${problems(findProblems(config))}
${databases(await parts.engine.health())}
<nav class="pager" aria-label="Which settings">${filterLink('', `All ${all.length}`, chosen === all)}${filterLink('?shown=set', `Set here: ${count}`, chosen !== all)}</nav>
${reload}
${groups.length > 0 ? groups : empty('No setting is set', 'All settings have their defaults.')}
<p class="quietly">A flag overrides the variable, the variable overrides the code or file, and all override the default. <code>portico doctor</code> shows the same on the command line, and also checks ports, folders and databases.</p>`;
  return { page: createFramedPage(request, parts, { title: 'Settings', under, content }) };
}

function databases(sources: readonly SourceHealth[]): Html | false {
  if (sources.length < 2) return false;
  const rows = sources.map(({ name, isAvailable }) => [
    name,
    isAvailable ? 'Answers' : html`<b>No answer</b>: calls for its collections fail until it is back`,
  ]);
  return html`<section aria-labelledby="databases"><h2 class="plainly" id="databases">Databases</h2>
${table({ caption: 'Databases', heads: ['Name', 'State'], rows })}</section>`;
}

const isSet = ({ origin }: ShownSetting): boolean => origin !== 'default';

function problems(found: readonly Finding[]): Html {
  if (found.length === 0)
    return html`<div class="state over"><div><b>No problems found in the settings</b></div></div>`;
  const kinds = { wrong: ['bad', 'Error'], note: ['wait', 'Warning'], ok: ['over', 'OK'] } as const;
  const rows = found.map(({ state, text }) => {
    const [className, name] = kinds[state];
    return html`<li class="state ${className}"><div><b>${name}</b><span>${text}</span></div></li>`;
  });
  return html`<ul class="findings" aria-label="Problems and risks">${rows}</ul>`;
}

const origins: Readonly<Record<ShownSetting['origin'], string>> = {
  flag: 'flag',
  environment: 'environment',
  file: 'code or file',
  code: 'code',
  default: 'default',
};

function group(title: string, rows: readonly ShownSetting[]): Html {
  const id = `group-${title.toLowerCase().replaceAll(' ', '-')}`;
  const lines = rows.map(
    (
      setting,
    ) => html`<div${isSet(setting) && html` class="set"`}><dt><code>${setting.env}</code><small>${setting.about}${setting.flag !== undefined && html` (<code>${setting.flag}</code>)`}</small></dt>
<dd>${shownValue(setting)}</dd><dd class="from"><span class="unseen">from </span>${origins[setting.origin]}</dd></div>`,
  );
  return html`<section aria-labelledby="${id}"><h2 class="plainly" id="${id}">${title}</h2>
<dl class="settings">${lines}</dl></section>`;
}

function shownValue({ value }: ShownSetting): Html {
  if (value === '-') return html`<i>not set</i>`;
  return value === '***' ? html`<i>set, and not shown</i>` : html`${value}`;
}
