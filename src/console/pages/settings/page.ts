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
  const find = (request.query.get('find') ?? '').trim().slice(0, 100);
  const all = describeSettings(config);
  const found = all.filter((setting) => matches(setting, find));
  const isSetOnly = request.query.get('shown') === 'set';
  const chosen = isSetOnly ? found.filter(isSet) : found;
  const filterLink = (shown: string, name: string, isCurrent: boolean) => {
    const query = new URLSearchParams({ ...(shown && { shown }), ...(find && { find }) });
    return html`<a href="${paths.path(under)}${query.size > 0 && `?${query}`}"${isCurrent && html` aria-current="true"`}>${name}</a>`;
  };
  const groups = settingGroups.flatMap(([title, names]) => {
    const rows = names.flatMap((name) => chosen.find((setting) => setting.name === name) ?? []);
    return rows.length === 0 ? [] : [group(title, rows, isSetOnly || find !== '')];
  });
  const reload =
    parts.reloadTables !== null &&
    html`<div class="leave">${buttonTo(request, parts, { page: under, action: 'reload', text: 'Read the tables again' })}</div>`;
  const content = html`<h1>Settings</h1>
${flash({ reloaded: 'The tables were read again. Portico now serves their current columns.' }, request.query)}
${problem !== undefined && html`<p class="state bad" role="alert"><b>The previous tables stay in use.</b> ${problem}</p>`}
<p class="lead">The settings of this process. To change one, set its variable or flag and restart. To read a value from a file, append <code>_FILE</code> to the variable's name.</p>
${problems(findProblems(config))}
${databases(await parts.engine.health())}
<form method="get" action="${paths.path(under)}" class="list-find" role="search">${isSetOnly && html`<input type="hidden" name="shown" value="set">`}<input type="search" name="find" value="${find}" aria-label="Find settings" placeholder="Name, flag, purpose or value" maxlength="100"><button class="plain slim">Find</button></form>
<nav class="pager" aria-label="Which settings">${filterLink('', `All ${found.length}`, !isSetOnly)}${filterLink('set', `Set here: ${found.filter(isSet).length}`, isSetOnly)}</nav>
${groups.length > 0 ? groups : nothing(find, paths.path(under))}
<p class="quietly">A flag overrides the variable, the variable overrides the code or file, and all override the default. <code>portico doctor</code> shows the same on the command line, and also checks ports, folders and databases.</p>
${reload}`;
  return { page: createFramedPage(request, parts, { title: 'Settings', under, content }) };
}

const nothing = (find: string, page: string): Html =>
  find === ''
    ? empty('No setting is set', 'All settings have their defaults.')
    : empty('No setting matches', html`<a href="${page}">Show all settings</a>`);

/** Every word, in any case. */
const matches = ({ env, flag = '', about, value }: ShownSetting, find: string): boolean => {
  const text = `${env} ${flag} ${about} ${value}`.toLowerCase();
  return find
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
};

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

/** Closed, a group says how much is in it; browsers find text in closed groups too. */
function group(title: string, rows: readonly ShownSetting[], isOpen: boolean): Html {
  const count = rows.filter(isSet).length;
  const lines = rows.map(
    (
      setting,
    ) => html`<div${isSet(setting) && html` class="set"`}><dt><code>${setting.env}</code><small>${setting.about}${setting.flag !== undefined && html` (<code>${setting.flag}</code>)`}</small></dt>
<dd>${shownValue(setting)}</dd><dd class="from"><span class="unseen">from </span>${origins[setting.origin]}</dd></div>`,
  );
  return html`<details class="more settings-group"${isOpen && html` open`}><summary><h2>${title}</h2> <span>${rows.length} ${rows.length === 1 ? 'setting' : 'settings'}${count > 0 && `, ${count} set here`}</span></summary>
<dl class="settings">${lines}</dl></details>`;
}

function shownValue({ value }: ShownSetting): Html {
  if (value === '-') return html`<i>not set</i>`;
  return value === '***' ? html`<i>set, and not shown</i>` : html`${value}`;
}
