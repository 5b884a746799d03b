// How pages, lists and logs name an app. Verified facts come first: the host of its metadata document, or else the host
// of its redirect URI. The app's own name is shown as a claim, and never beside a badge.

import { visibleName } from '../../core/suggestions/visible-text.ts';
import { type Html, html } from '../../http/html.ts';
import { type Destination, isDocumentClient } from './normalize.ts';

export interface DisplayedClient {
  /** The app's own name for itself. */
  readonly name: string;
  /** Host of the client's metadata document. The document proves that the client belongs to that host. */
  readonly verifiedHost?: string;
}

export function displayClient(clientId: string, name: string | undefined): DisplayedClient {
  const verified = isDocumentClient(clientId) ? { verifiedHost: new URL(clientId).host } : {};
  return { name: visibleName(name ?? '') || 'An unnamed app', ...verified };
}

/** On a device, any program can use the name and document of another, so neither is verified. */
const ON_DEVICE = 'an app on this device';

/**
 * Title for use in a sentence. `destination` is the destination of the response; undefined for connections from before
 * it was stored.
 */
export function clientTitle({ name, verifiedHost }: DisplayedClient, destination: Destination | undefined): string {
  if (destination && destination.kind !== 'web') return ON_DEVICE;
  return verifiedHost ?? destination?.name ?? name;
}

/** Title for lists, logs and the command line, without a destination: the verified host, or the app's own name. */
export function clientLabel(clientId: string, clientName: string | undefined): string {
  const { name, verifiedHost } = displayClient(clientId, clientName);
  return verifiedHost === undefined ? name : `${verifiedHost} (calls itself “${name}”)`;
}

export function describeClient(client: DisplayedClient, destination: Destination | undefined): Html {
  const { name, verifiedHost } = client;
  const isVerified = verifiedHost !== undefined && destination?.kind === 'web';
  const title = clientTitle(client, destination);
  const badge = isVerified
    ? html`<span class="badge">verified</span>`
    : html`<span class="badge unsure">unverified</span>`;
  const claim = title === name ? 'The name was not verified.' : `Calls itself “${name}”.`;
  const claimText =
    verifiedHost !== undefined &&
    !isVerified &&
    title !== verifiedHost &&
    html`<small>It claims to be the app of ${verifiedHost}.</small>`;
  return html`${title === ON_DEVICE ? 'An app on this device' : title} ${badge}<small>${claim}</small>${claimText}`;
}

export function describeDestination({ kind, name }: Destination): Html {
  if (kind === 'web') return html`${name}`;
  if (kind === 'device') return html`This device<small>${name}</small>`;
  return html`An app on this device<small>that opens ${name}: links</small>`;
}
