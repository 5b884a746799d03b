// The parts of a request target (RFC 9112 section 3.2.1).

/** The path of a request target, without its query. */
export function pathOf(url = '/'): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

/** The query of a request target as text, without the `?`. */
export function queryTextOf(url = '/'): string {
  const query = url.indexOf('?');
  return query < 0 ? '' : url.slice(query + 1);
}

/** The query of a request target. Parameters may repeat. */
export const queryOf = (url?: string): URLSearchParams => new URLSearchParams(queryTextOf(url));
