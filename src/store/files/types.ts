// Files that one call requests and another call transfers.

/**
 * Files in transfer, stored in parts. Names and contents are encrypted with the file's key, and the id is the hash of
 * that key: the storage cannot decrypt them. Expired rows are treated as missing.
 */
export interface FileRows {
  add(file: FileRow): Promise<void>;
  find(id: string): Promise<FileRow | undefined>;
  /** Changes the state from `from` to `to`. True when this call, of all calls in all processes, made the change. */
  move(id: string, from: FileState, to: FileState): Promise<boolean>;
  putPart(id: string, part: number, sealed: string): Promise<void>;
  findPart(id: string, part: number): Promise<string | undefined>;
  /** Changes `arriving` to `ready` and stores the size; false when the file has expired. */
  finish(id: string, size: { readonly bytes: number; readonly parts: number }): Promise<boolean>;
  /** Deletes the received parts to allow a new upload. */
  restart(id: string): Promise<void>;
  /** Sets the expiry, in milliseconds since the epoch, unless the file has expired. */
  keep(id: string, until: number): Promise<void>;
  remove(id: string): Promise<void>;
  /** Number of files of the user that have not expired. */
  countOf(userId: number): Promise<number>;
  /** Deletes expired files. */
  sweep(): Promise<void>;
}

/** `taken`: the call that took the file is using it. */
type FileState = 'asked' | 'arriving' | 'ready' | 'taken';

export interface FileRow {
  /** Hash of the file's key. */
  readonly id: string;
  /** `run`: a user uploaded it for an action of a run. */
  readonly kind: 'upload' | 'download' | 'run';
  readonly userId: number;
  readonly state: FileState;
  readonly sealed: string;
  readonly bytes: number;
  readonly parts: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}
