// Notes about records. Each note is a title with a thread of messages.

export interface Notes {
  /**
   * Newest first. Uses one statement for the notes and one for their messages. A named user or team adds one statement,
   * and so does a range of `updatedAt` or `archivedAt`.
   */
  list(filter: NoteFilter): Promise<NotePage>;
  /** With its thread. Undefined for an unknown id, and for a note of another environment. */
  find(id: number): Promise<Note | undefined>;
  /** Returns the id. */
  create(note: NewNote): Promise<number>;
  /** Undefined for an unknown note. A change to the same value does not update `updatedAt`. */
  change(id: number, change: NoteChange): Promise<true | undefined>;
  /** The id of the message, or `full` when the thread is at its limit. Undefined for an unknown note. */
  addMessage(noteId: number, message: NewMessage): Promise<number | 'full' | undefined>;
  /** Undefined when the note has no such message. */
  editMessage(noteId: number, messageId: number, content: string): Promise<true | 'full' | undefined>;
}

/** Filters of the list; absent properties do not filter. Names are compared byte by byte. */
export interface NoteFilter {
  readonly userEmail?: string;
  readonly userId?: number;
  readonly teamName?: string;
  readonly collection?: string;
  /** Any of these. */
  readonly collections?: readonly string[];
  readonly recordId?: string;
  /** Substring of the title, ignoring case. */
  readonly title?: string;
  readonly archived?: boolean;
  readonly createdAt?: TimeRange;
  readonly updatedAt?: TimeRange;
  readonly archivedAt?: TimeRange;
  /** `next` of the previous page. */
  readonly after?: number;
  readonly limit: number;
  /** Default true. */
  readonly withMessages?: boolean;
}

/** Milliseconds since the epoch; both ends are inclusive. */
export interface TimeRange {
  readonly from?: number;
  readonly to?: number;
}

interface NotePage {
  readonly notes: readonly Note[];
  /** Start of the next page; absent on the last page. */
  readonly next?: number;
}

export interface Note {
  readonly id: number;
  readonly title: string;
  /** Null when the note was created without one. */
  readonly collection: string | null;
  /** Packed (agent/encode/record-id.ts). */
  readonly recordId: string;
  readonly user: NoteUser;
  readonly team: string;
  readonly environment: string;
  /** Milliseconds since the epoch, like the other times. Unique within an environment, and it increases with the id. */
  readonly createdAt: number;
  /** Last change of the note or one of its messages. */
  readonly updatedAt: number;
  readonly archivedAt: number | null;
  readonly messageCount: number;
  /** Oldest first; empty when `withMessages` is false. */
  readonly messages: readonly NoteMessage[];
}

export interface NoteMessage {
  readonly id: number;
  /** HTML, sanitized before it is stored. */
  readonly content: string;
  readonly user: NoteUser;
  readonly createdAt: number;
  readonly editedAt: number | null;
}

/** May be a disabled or deleted user. */
export interface NoteUser {
  readonly id: number;
  /** First and last name, else the email address. */
  readonly name: string;
  readonly email: string;
}

export interface NewNote {
  readonly title: string;
  readonly collection: string;
  readonly recordId: string;
  readonly userId: number;
  /** Rendering of the user; its team becomes the team of the note. */
  readonly renderingId: number;
  /** Content of a first message. */
  readonly content?: string;
}

export interface NoteChange {
  readonly title?: string;
  readonly archived?: boolean;
}

interface NewMessage {
  readonly userId: number;
  readonly content: string;
}
