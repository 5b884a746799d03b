// The site that led the user to the authorization endpoint, as the browser reports it (Fetch Metadata). It is stored in
// the interaction, because the pages in between are ours and would report our own origin.
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';

/** The property of an interaction's payload. */
const firstSite = 'firstSite';

interface InteractionPayload {
  [firstSite]?: string;
}

/** Sec-Fetch-Site header of the first request of the authorization; '' if it was absent. */
function readFirstSite(ctx: KoaContextWithOIDC): string {
  const interaction = ctx.oidc.entities.Interaction as InteractionPayload | undefined;
  return interaction ? (interaction[firstSite] ?? '') : ctx.get('sec-fetch-site');
}

/** Whether the user started the authorization: typed or opened the URL, or came from a page of this origin. */
export function isUserInitiated(ctx: KoaContextWithOIDC): boolean {
  return ['none', 'same-origin'].includes(readFirstSite(ctx));
}

/**
 * Each new interaction copies the value from the one before it. `current` returns the context of the current request.
 */
export function persistFirstSite(provider: Provider, current: () => KoaContextWithOIDC | undefined): void {
  const payloadNames = provider.Interaction.IN_PAYLOAD;
  Object.defineProperty(provider.Interaction, 'IN_PAYLOAD', { get: () => [...payloadNames, firstSite] });
  const { prototype } = provider.Interaction;
  const { save } = prototype;
  prototype.save = function saveWithSite(this: InteractionPayload & typeof prototype, ...args) {
    const ctx = current();
    if (ctx?.oidc) this[firstSite] ??= readFirstSite(ctx);
    return save.apply(this, args);
  };
}
