// Mutations of somebody who had not read the tests, one at an edge of each row, which no test of the row noticed.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts of src/ contain templates.
import type { Points } from '../mutations.ts';

export const edgesDrawnH: Points = {
  'src/agent/actions/elements.ts': {
    '2.3 · form': ['for (const { id } of fieldsOf(elements)) {', "for (const { id } of elements.filter((each) => each.kind === 'field')) {"],
  },
  'src/agent/actions/records.ts': {
    '2.3 · context · getCompositeRecordIds': ['const columns = keyColumns(call).map((column) => ({ ...column, name: column.internalName }));', 'const columns = keyColumns(call);'],
  },
  'src/agent/actions/values.ts': {
    '2.4 · type · Number': ["if (typeof number === 'number' && !losesPrecision(number)) return number;", "if (typeof number === 'number') return number;"],
  },
  'src/agent/artifacts/typings.ts': {
    '2.1 · typingsPath': [".replaceAll('*/', '*\\\\/')", ''],
  },
  'src/agent/customize/customizer.ts': {
    '4.2 · Other · chaining': [`for (const name of relations) this.#add(at, { kind: 'trustedKey', name });
    return this;`, `for (const name of relations) this.#add(at, { kind: 'trustedKey', name });
    return undefined as never;`],
  },
  'src/agent/customize/recording.ts': {
    'decisions · HTTP API · a plugin is called once for each collection': [`    for (const entry of this.#entries) if (entry instanceof Recording) await entry.#settle();
`, ''],
  },
  'src/agent/lower/filter.ts': {
    '4.2 · Segments · addSegment': ['(plain) => lowerInternal(plain, { ...lowering, acceptsAmbiguity: true }, { what, at }),', '(plain) => lowerInternal(plain, lowering, { what, at }),'],
  },
  'src/agent/resolve/filter.ts': {
    '2.7 · filter · conditionTree': ['/^(and|or|not)$/i.exec', '/^(And|Or|Not)$/.exec'],
  },
  'src/agent/sources/evaluate.ts': {
    '2.7 · validation · Like': ['const characters = [...text];', "const characters = text.split('');"],
  },
  'src/api/notes/content.ts': {
    'api 2.2 · title': ["input.replace(/[\\p{Cc}\\s]+/gu, ' ').trim()", "input.replace(/\\s+/gu, ' ').trim()"],
  },
  'src/api/notes/routes.ts': {
    'api 2.2 · id': ['if (/^[1-9]\\d{0,9}$/.test(text)', 'if (/^\\d{1,10}$/.test(text)'],
  },
  'src/console/pages/data/access.ts': {
    'decisions · changes · console shows and edits data': ["if (!isOffered(parts, 'list') || !access.can('browse', collection))", "if (!access.can('browse', collection))"],
  },
  'src/core/config/optional-package.ts': {
    'decisions · changes · optional peers': [" && message.includes(`'${name}'`)", ''],
  },
  'src/http/router.ts': {
    'decisions · changes · Express 5 routers': ["const methods = method === 'GET' && !refusesHead ? ['GET', 'HEAD'] : [method];", 'const methods = [method];'],
  },
  'src/mcp/endpoint.ts': {
    'decisions · MCP · both generations of the protocol at one address': ['if (hasSessions && sessionId !== undefined && !isModernRequest(req, body)) {', 'if (hasSessions && sessionId !== undefined) {'],
  },
  'src/oauth/clients/normalize.ts': {
    'decisions · OAuth · client documents and registration': ['if (/[\\s\\\\*]/.test(uri))', 'if (/[\\s*]/.test(uri))'],
  },
  'src/rest/records/related.ts': {
    'decisions · HTTP API · records, one, and counts': ['const exists = row !== undefined && row[root.key[0]!] !== null;', 'const exists = row !== undefined;'],
  },
  'src/server/agent/files.ts': {
    '2.1 · schemaPath': ['const target = found ? realpathSync(path) : path;', 'const target = path;'],
  },
  'src/server/route.ts': {
    'decisions · MCP · unknown paths of the namespaces have a JSON body': ['...(servesMcp ? [...oauth.prefixes, ...oauth.wellKnown] : []),', '...(servesMcp ? oauth.prefixes : []),'],
  },
  'src/store/permissions/access.ts': {
    '2.3 · context · caller': ['tags: Object.freeze({ ...facts.caller.tags })', 'tags: { ...facts.caller.tags }'],
  },
}; // biome-ignore format: a table
