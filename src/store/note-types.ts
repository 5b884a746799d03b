// Notes: what people write about a record, each a title with a thread of messages.

export interface Notes {
  /**
   * Newest first: one statement for the notes, and one for their messages; before them one for a person or a team that is named,
   * and one for a range of `updatedAt` or `archivedAt`.
   */
  list(wish: NoteWish): Promise<NotePage>;
  /** With its thread. Undefined for one of another environment as for one that never was. */
  find(id: number): Promise<Note | undefined>;
  /** Answers the id. */
  create(note: NewNote): Promise<number>;
  /** Undefined where there is none. What stays as it is does not move `updatedAt`. */
  change(id: number, change: NoteChange): Promise<true | undefined>;
  /** The id of the message; `full` when the thread holds all that it can. Undefined where there is no note. */
  addMessage(noteId: number, message: NewMessage): Promise<number | 'full' | undefined>;
  /** Undefined where the note has no such message. */
  editMessage(noteId: number, messageId: number, content: string): Promise<true | 'full' | undefined>;
}

/** Names compare by their bytes; what is absent is not asked for. */
export interface NoteWish {
  readonly userEmail?: string;
  readonly userId?: number;
  readonly teamName?: string;
  readonly collection?: string;
  /** One of these. */
  readonly collections?: readonly string[];
  readonly recordId?: string;
  /** What the title holds, in whichever case. */
  readonly title?: string;
  readonly archived?: boolean;
  readonly createdAt?: TimeRange;
  readonly updatedAt?: TimeRange;
  readonly archivedAt?: TimeRange;
  /** `next` of the page before. */
  readonly after?: number;
  readonly limit: number;
  /** Default true. */
  readonly withMessages?: boolean;
}

/** Milliseconds since the epoch, both ends within. */
export interface TimeRange {
  readonly from?: number;
  readonly to?: number;
}

export interface NotePage {
  readonly notes: readonly Note[];
  /** Where the next page begins; absent when there is none. */
  readonly next?: number;
}

export interface Note {
  readonly id: number;
  readonly title: string;
  /** Null where it was not told. */
  readonly collection: string | null;
  /** Packed (agent/record-id.ts). */
  readonly recordId: string;
  readonly user: NoteUser;
  readonly team: string;
  readonly environment: string;
  /** Milliseconds since the epoch, as the others. No two notes of an environment have the same, and later ids have later ones. */
  readonly createdAt: number;
  /** Of the note or one of its messages. */
  readonly updatedAt: number;
  readonly archivedAt: number | null;
  readonly messageCount: number;
  /** Oldest first; empty where they were not asked for. */
  readonly messages: readonly NoteMessage[];
}

export interface NoteMessage {
  readonly id: number;
  /** HTML, as it was sanitized when it was written. */
  readonly content: string;
  readonly user: NoteUser;
  readonly createdAt: number;
  readonly editedAt: number | null;
}

/** Somebody who is disabled or gone as well. */
export interface NoteUser {
  readonly id: number;
  /** First and last name, else the e-mail address. */
  readonly name: string;
  readonly email: string;
}

export interface NewNote {
  readonly title: string;
  readonly collection: string;
  readonly recordId: string;
  readonly userId: number;
  /** Of the user: its team is that of the note. */
  readonly renderingId: number;
  /** Of a first message. */
  readonly content?: string;
}

export interface NoteChange {
  readonly title?: string;
  readonly archived?: boolean;
}

export interface NewMessage {
  readonly userId: number;
  readonly content: string;
}
