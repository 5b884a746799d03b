// The site that led the user to the authorization endpoint, as the browser reports it (Fetch Metadata). It is stored in
// the interaction, because the pages in between are ours and would report our own origin.
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';

/** The property of an interaction's payload. */
const firstSite = 'firstSite';

interface Kept {
  [firstSite]?: string;
}

/** Sec-Fetch-Site header of the first request of the authorization; '' if it was absent. */
function firstSiteOf(ctx: KoaContextWithOIDC): string {
  const before = ctx.oidc.entities.Interaction as Kept | undefined;
  return before ? (before[firstSite] ?? '') : ctx.get('sec-fetch-site');
}

/** Whether the user started the authorization: typed or opened the URL, or came from a page of this origin. */
export function cameByThemselves(ctx: KoaContextWithOIDC): boolean {
  return ['none', 'same-origin'].includes(firstSiteOf(ctx));
}

/**
 * Each new interaction copies the value from the one before it. `current` returns the context of the current request.
 */
export function keepFirstSite(provider: Provider, current: () => KoaContextWithOIDC | undefined): void {
  const known = provider.Interaction.IN_PAYLOAD;
  Object.defineProperty(provider.Interaction, 'IN_PAYLOAD', { get: () => [...known, firstSite] });
  const { prototype } = provider.Interaction;
  const { save } = prototype;
  prototype.save = function saveWithSite(this: Kept & typeof prototype, ...given) {
    const ctx = current();
    if (ctx?.oidc) this[firstSite] ??= firstSiteOf(ctx);
    return save.apply(this, given);
  };
}
