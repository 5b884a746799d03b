// What a browser says that it is, in the words of people. It may say what it likes: this is for recognising one's own.

const browsers: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const systems: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\biPhone\b/, 'an iPhone'],
  [/\biPad\b/, 'an iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMacintosh\b/, 'a Mac'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

/** `Firefox on Linux`; `A browser` when it says nothing that is known. */
export function describeBrowser(said: string): string {
  const find = (table: typeof browsers) => table.find(([pattern]) => pattern.test(said))?.[1];
  const [browser, system] = [find(browsers), find(systems)];
  return `${browser ?? 'A browser'}${system ? ` on ${system}` : ''}`;
}
