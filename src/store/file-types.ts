// Files that are asked for in one call and arrive in another.

/**
 * Files on their way, in parts. What they are called and hold is sealed by whoever has the file's key, of which the id is
 * the hash: the storage alone opens none. A row that has expired is as if it were not there.
 */
export interface FileRows {
  add(file: FileRow): Promise<void>;
  find(id: string): Promise<FileRow | undefined>;
  /** True when this call was the one, in all processes, that took the file from `from` to `to`. */
  move(id: string, from: FileState, to: FileState): Promise<boolean>;
  putPart(id: string, part: number, sealed: string): Promise<void>;
  findPart(id: string, part: number): Promise<string | undefined>;
  /** From `arriving` to `ready`, with its size; false when it has expired meanwhile. */
  finish(id: string, size: { readonly bytes: number; readonly parts: number }): Promise<boolean>;
  /** Drops what arrived of it, so that it may be sent again. */
  restart(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  /** Files of the user that have not expired. */
  countOf(userId: number): Promise<number>;
  /** Deletes what has expired. */
  sweep(): Promise<void>;
}

/** `taken`: whoever took it is using it up. */
export type FileState = 'asked' | 'arriving' | 'ready' | 'taken';

export interface FileRow {
  /** Hash of the file's key. */
  readonly id: string;
  /** `run`: given by a person to an action of a run. */
  readonly kind: 'upload' | 'download' | 'run';
  readonly userId: number;
  readonly state: FileState;
  readonly sealed: string;
  readonly bytes: number;
  readonly parts: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}
