/**
 * Returns scheme, host and path of a URL. Hides user, password and query, which can contain secrets. Hides any other
 * text completely.
 */
export function maskUrl(value: string): string {
  if (/^sqlite:/i.test(value)) return value.replace(/\?.*$/s, '?***');
  if (!URL.canParse(value)) return '***';
  const { protocol, host, pathname, username, password, search } = new URL(value);
  if (host === '') return '***';
  const user = username || password ? '***@' : '';
  return `${protocol}//${user}${host}${pathname}${search ? '?***' : ''}`;
}
