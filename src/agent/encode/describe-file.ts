// What a reader sees in place of a file.

/** `image/png, 10735 bytes` for a base64 `data:` URI. Other values stay unchanged. */
export function describeFile(value: unknown): unknown {
  const found = typeof value === 'string' ? /^data:([^;,]*);base64,/.exec(value) : null;
  if (!found || typeof value !== 'string') return value;
  const digits = value.length - found[0].length;
  const padding = value.endsWith('==') ? 2 : value.endsWith('=') ? 1 : 0;
  return `${found[1]}, ${(digits / 4) * 3 - padding} bytes`;
}
