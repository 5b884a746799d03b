// An attempt to learn something that is hidden: calls of one user. The judge compares their complete answers in two
// worlds (judge.ts).

export type Args = Readonly<Record<string, unknown>>;

export interface Sent {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A user in one world. Answers are complete texts: status, headers and body. */
export interface Caller {
  tool(name: string, args: Args): Promise<string>;
  http(sent: Sent): Promise<string>;
}

export interface Leak {
  readonly id: string;
  /** What a difference would reveal. */
  readonly about: 'field' | 'row';
  /** `insider`: a user of world A with all rights, for cursors that a user passes on. */
  run(caller: Caller, insider: Caller): Promise<string>;
}

/** One call of a tool. */
export const tool =
  (name: string, args: Args): Leak['run'] =>
  (caller) =>
    caller.tool(name, args);

export const http =
  (sent: Sent): Leak['run'] =>
  (caller) =>
    caller.http(sent);

export const get = (path: string, query: Readonly<Record<string, string>> = {}): Leak['run'] => {
  const text = new URLSearchParams(query).toString();
  return http({ method: 'GET', path: text ? `${path}?${text}` : path });
};

export const post = (path: string, body: object): Leak['run'] => http({ method: 'POST', path, body });

const nextCursor = /\\?"nextCursor\\?":\\?"([\w-]+)/;
const MOST_PAGES = 12;

/** All pages of a tool, one record or group at a time. */
export const pages =
  (name: string, args: Args): Leak['run'] =>
  async (caller) => {
    const texts: string[] = [];
    let cursor: string | undefined;
    do {
      const text = await caller.tool(name, { ...args, ...(cursor !== undefined && { cursor }) });
      texts.push(text);
      cursor = nextCursor.exec(text)?.[1];
    } while (cursor !== undefined && texts.length < MOST_PAGES);
    return texts.join('\n');
  };

/** Sends the first cursor of an insider's page. */
export const borrowed =
  (name: string, args: Args): Leak['run'] =>
  async (caller, insider) => {
    const cursor = nextCursor.exec(await insider.tool(name, args))?.[1];
    if (cursor === undefined) throw new Error(`an insider has no cursor of ${name} ${JSON.stringify(args)}`);
    return caller.tool(name, { ...args, cursor });
  };

/** Replaces the position in the caller's own cursor. */
export const forged =
  (name: string, args: Args, ...values: readonly unknown[]): Leak['run'] =>
  async (caller) => {
    const cursor = nextCursor.exec(await caller.tool(name, args))?.[1];
    if (cursor === undefined) return 'no cursor';
    const [mark] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const changed = Buffer.from(JSON.stringify([mark, ...values])).toString('base64url');
    return caller.tool(name, { ...args, cursor: changed });
  };
