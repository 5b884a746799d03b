// The settings of this process, for administrators. The page is read-only: change a setting at its source and restart.
// `portico doctor` prints the same findings (core/config).
import { type Finding, findProblems } from '../../../core/config/findings.ts';
import { describeSettings, type ShownSetting, settingGroups } from '../../../core/config/shown.ts';
import { type Html, html } from '../../../http/html.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { empty } from '../../ui/data.ts';
import { createFramed } from '../../ui/frame.ts';

const under = '/settings';

export async function showSettings(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { config, paths } = parts;
  const all = describeSettings(config);
  const chosen = visit.query.get('shown') === 'set' ? all.filter(isSet) : all;
  const count = all.filter(isSet).length;
  const way = (query: string, name: string, isHere: boolean) =>
    html`<a href="${paths.path(under)}${query}"${isHere && html` aria-current="true"`}>${name}</a>`;
  const groups = settingGroups.flatMap(([title, names]) => {
    const rows = names.flatMap((name) => chosen.find((setting) => setting.name === name) ?? []);
    return rows.length === 0 ? [] : [group(title, rows)];
  });
  const content = html`<h1>Settings</h1>
<p class="lead">What this process runs with. To change a setting, set its variable, or its flag where it has one, and start again. Each can also be read from a file: put <code>_FILE</code> behind the variable's name.</p>
${problems(findProblems(config))}
<nav class="pager" aria-label="Which settings">${way('', `All ${all.length}`, chosen === all)}${way('?shown=set', `Set here: ${count}`, chosen !== all)}</nav>
${groups.length > 0 ? groups : empty('No setting is set', 'Every one has its default.')}
<p class="quietly">Where a setting is given in several places, the flag goes before the variable, that before the code or file, and that before the default. <code>portico doctor</code> says the same at the command line, and tries ports, folders and databases too.</p>`;
  return { page: createFramed(visit, parts, { title: 'Settings', under, content }) };
}

const isSet = ({ origin }: ShownSetting): boolean => origin !== 'default';

function problems(found: readonly Finding[]): Html {
  if (found.length === 0)
    return html`<div class="state over"><div><b>Nothing is wrong with them</b><span>As far as can be told from the settings alone.</span></div></div>`;
  const kinds = { wrong: ['bad', 'Wrong'], note: ['wait', 'Worth a look'], ok: ['over', 'Well'] } as const;
  const rows = found.map(({ state, text }) => {
    const [look, name] = kinds[state];
    return html`<li class="state ${look}"><div><b>${name}</b><span>${text}</span></div></li>`;
  });
  return html`<ul class="findings" aria-label="What is wrong or risky">${rows}</ul>`;
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
