// Removes invisible characters from untrusted text, such as the name of an app or a comment of a database. They could
// make one name look like another, look empty, or hide text from people that a model reads.

/** By Unicode property, plus the blank Braille pattern, which has a width but no visible dots. */
const invisible = /[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2800]/gu;

/** The name on one line, without invisible characters; '' if that leaves no text. */
export function visibleName(name: string): string {
  return name
    .replace(invisible, (found) => (/\s/.test(found) ? ' ' : ''))
    .replace(/\s+/g, ' ')
    .trim();
}
