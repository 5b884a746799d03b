export function bundle(options: {
  readonly root: string;
  readonly outdir: string;
  readonly replaced?: ReadonlyMap<string, string>;
}): Promise<ReadonlySet<string>>;
export function listPages(root: string): readonly string[];
export const bundledPackages: readonly string[];
