/** Of an address its scheme, host and path; user, password and query are where secrets lie. Of anything else nothing. */
export function maskUrl(value: string): string {
  if (/^sqlite:/i.test(value)) return value.replace(/\?.*$/s, '?***');
  if (!URL.canParse(value)) return '***';
  const { protocol, host, pathname, username, password, search } = new URL(value);
  if (host === '') return '***';
  const user = username || password ? '***@' : '';
  return `${protocol}//${user}${host}${pathname}${search ? '?***' : ''}`;
}
