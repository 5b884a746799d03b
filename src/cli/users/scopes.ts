// The help of `token create`: the scopes that a token can have.
import { entrances, entranceWords, scopeWords } from '../../console/pages/tokens/words.ts';

export function describeScopes(): string {
  const kinds = entrances.map((entrance) => {
    const width = Math.max(...scopeWords[entrance].map(({ scope }) => scope.length));
    const lines = scopeWords[entrance].map(
      ({ scope, detail, admin }) => `  ${scope.padEnd(width)}  ${detail}${admin ? ' For administrators.' : ''}`,
    );
    return `${entranceWords[entrance].detail}\n${lines.join('\n')}\n`;
  });
  return `\nScopes. A token has scopes of only one kind.\n\n${kinds.join('\n')}`;
}
