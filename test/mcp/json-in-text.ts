// JSON in the text of an error: the call that it says to send.

/** The first complete JSON object or array in a text. */
export function readJson(text: string): unknown {
  for (let start = 0; start < text.length; start++) {
    if (text[start] !== '{' && text[start] !== '[') continue;
    for (let end = text.length; end > start; end--) {
      if (text[end - 1] !== '}' && text[end - 1] !== ']') continue;
      try {
        return JSON.parse(text.slice(start, end));
      } catch {
        // Not the end of the JSON.
      }
    }
  }
  return undefined;
}
