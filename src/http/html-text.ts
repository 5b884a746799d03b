// Converts the HTML of an action to text for a model: the text that a reader would see, without tags, scripts, styles
// and comments. The result is plain text: `&lt;b&gt;` becomes `<b>`. Code that puts it into a page must escape it
// (CWE-116), as the console does. The parser makes one pass and uses no patterns that malicious input could slow down.

/** The maximum length of the text. */
const MAX_TEXT_CHARACTERS = 4000;
/** The rest of a longer document is ignored, to bound the time. */
const MAX_HTML_CHARACTERS = 1_000_000;

/** Elements without visible text. */
const hiddenElements: ReadonlySet<string> = new Set([
  'script',
  'style',
  'template',
  'head',
  'title',
  'noscript',
  'svg',
  'iframe',
]);
const breakingElements: ReadonlySet<string> = new Set([
  'br',
  'p',
  'div',
  'li',
  'ul',
  'ol',
  'tr',
  'table',
  'section',
  'article',
  'header',
  'footer',
  'blockquote',
  'pre',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'hr',
  'dt',
  'dd',
]);
const cellElements: ReadonlySet<string> = new Set(['td', 'th']);
const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  euro: '€',
  copy: '©',
  hellip: '…',
  ndash: '–',
  mdash: '—',
};

/** At most 4,000 characters; a longer text ends in `…`. */
export function htmlToText(html: string): string {
  const source = html.slice(0, MAX_HTML_CHARACTERS);
  let text = '';
  let hidden: string | undefined;
  for (let at = 0; at < source.length && text.length < 2 * MAX_TEXT_CHARACTERS; ) {
    const open = source.indexOf('<', at);
    const end = open < 0 ? source.length : open;
    if (!hidden) text += source.slice(at, end);
    if (open < 0) break;
    const tag = readTag(source, open);
    if (!tag) {
      if (!hidden) text += '<';
      at = open + 1;
      continue;
    }
    at = tag.end;
    if (hidden) {
      if (tag.closes && tag.name === hidden) hidden = undefined;
    } else if (!tag.closes && hiddenElements.has(tag.name)) hidden = tag.name;
    else if (breakingElements.has(tag.name)) text += '\n';
    else if (cellElements.has(tag.name)) text += ' ';
  }
  return normalizeLines(decodeEntities(text));
}

interface Tag {
  readonly name: string;
  readonly closes: boolean;
  readonly end: number;
}

/** Undefined for a `<` that does not begin a tag. An unterminated comment or tag extends to the end of the text. */
function readTag(source: string, open: number): Tag | undefined {
  if (source.startsWith('<!--', open)) {
    const end = source.indexOf('-->', open + 4);
    return { name: '', closes: false, end: end < 0 ? source.length : end + 3 };
  }
  const closes = source[open + 1] === '/';
  let at = open + (closes ? 2 : 1);
  const from = at;
  while (at < source.length && /[a-zA-Z0-9:-]/.test(source[at]!)) at++;
  const name = source.slice(from, at).toLowerCase();
  if (!/^[a-z]/.test(name) && source[open + 1] !== '!' && source[open + 1] !== '?') return undefined;
  let quote = '';
  for (; at < source.length; at++) {
    const char = source[at]!;
    if (quote) quote = char === quote ? '' : quote;
    else if (char === '"' || char === "'") quote = char;
    else if (char === '>') break;
  }
  return { name, closes, end: Math.min(at + 1, source.length) };
}

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hex, name: string) => {
    const code = decimal ? Number(decimal) : hex ? Number.parseInt(hex, 16) : undefined;
    if (code !== undefined) return code > 31 && code <= 0x10ffff ? String.fromCodePoint(code) : ' ';
    return entities[name.toLowerCase()] ?? whole;
  });
}

function normalizeLines(text: string): string {
  const lines = text.split('\n').map((line) => line.replace(/\s+/g, ' ').trim());
  const plain = lines.filter(Boolean).join('\n');
  return plain.length <= MAX_TEXT_CHARACTERS ? plain : `${plain.slice(0, MAX_TEXT_CHARACTERS)}…`;
}
