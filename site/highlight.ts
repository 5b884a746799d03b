// Syntax highlighting with a few token kinds: readers can tell comments, strings and
// names apart, in the languages of the documentation. Other text is printed unchanged.

type Rule = readonly [kind: string, pattern: string];

const quoted = String.raw`'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"`;
const number = String.raw`\b\d[\d_]*(?:\.\d+)?\b`;
const keywords =
  'import|export|from|const|let|var|function|return|async|await|new|class|extends|implements|interface|type|readonly|if|else|for|of|in|while|throw|try|catch|finally|null|undefined|true|false|static|get|set|default|typeof|keyof|infer|as|satisfies|declare|abstract|this|never|void';

const script: readonly Rule[] = [
  ['comment', String.raw`\/\/[^\n]*|\/\*[\s\S]*?\*\/`],
  ['text', String.raw`${quoted}|${'`'}(?:\\[\s\S]|[^${'`'}\\])*${'`'}`],
  ['word', String.raw`\b(?:${keywords})\b`],
  ['number', number],
  ['type', String.raw`\b[A-Z]\w*\b`],
];
const shell: readonly Rule[] = [
  ['comment', String.raw`(?<=^|\s)#[^\n]*`],
  ['text', quoted],
  ['type', String.raw`(?<=^|\s)[A-Z][A-Z0-9_]*(?==)`],
  ['word', String.raw`(?<=^|\s|\n)--?[a-z][\w-]*`],
];
const data: readonly Rule[] = [
  ['type', String.raw`"(?:\\.|[^"\\\n])*"(?=\s*:)`],
  ['text', String.raw`"(?:\\.|[^"\\\n])*"`],
  ['word', String.raw`\b(?:true|false|null)\b`],
  ['number', number],
];
const list: readonly Rule[] = [
  ['comment', String.raw`(?<=^|\s)#[^\n]*`],
  ['text', quoted],
  ['type', String.raw`(?<=^|\n)[ \t-]*[\w.-]+(?=:(?:\s|$))`],
];

const languages: Readonly<Record<string, readonly Rule[]>> = {
  ts: script,
  js: script,
  mjs: script,
  sh: shell,
  bash: shell,
  json: data,
  yaml: list,
  yml: list,
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign]!);
}

/** The code as HTML; escaped for every language, known or not. */
export function highlight(code: string, language: string): string {
  const rules = languages[language];
  if (!rules) return escapeHtml(code);
  const pattern = new RegExp(rules.map(([, one]) => `(${one})`).join('|'), 'g');
  let html = '';
  let last = 0;
  for (const match of code.matchAll(pattern)) {
    const kind = rules[match.slice(1).findIndex((part) => part !== undefined)]?.[0];
    html += `${escapeHtml(code.slice(last, match.index))}<span class="${kind}">${escapeHtml(match[0])}</span>`;
    last = match.index + match[0].length;
  }
  return html + escapeHtml(code.slice(last));
}
