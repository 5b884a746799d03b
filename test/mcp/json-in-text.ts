// JSON in the text of an error: the call that it says to send.

/** The first complete JSON object or array in a text. */
export const readJson = (text: string): unknown => readAllJson(text).next().value;

/** All of them, in order. */
export function* readAllJson(text: string): Generator<unknown, undefined> {
  for (let start = 0; start < text.length; start++) {
    if (text[start] !== '{' && text[start] !== '[') continue;
    for (let end = text.length; end > start; end--) {
      if (text[end - 1] !== '}' && text[end - 1] !== ']') continue;
      try {
        yield JSON.parse(text.slice(start, end));
        start = end;
        break;
      } catch {
        // Not the end of the JSON.
      }
    }
  }
  return undefined;
}
