// How pages, lists and logs name an app. Verified facts come first: the host of its metadata document, or else the host
// of its redirect URI. The app's own name is shown as a claim, and never beside a badge.

import { type Html, html } from '../../http/html.ts';
import { type Destination, isDocumentClient } from './normalize.ts';
import { visibleName } from './visible-text.ts';

export interface ShownClient {
  /** The app's own name for itself. */
  readonly name: string;
  /** Host of the client's metadata document. The document proves that the client belongs to that host. */
  readonly verifiedHost?: string;
}

export function shownClient(clientId: string, name: string | undefined): ShownClient {
  const verified = isDocumentClient(clientId) ? { verifiedHost: new URL(clientId).host } : {};
  return { name: visibleName(name ?? '') || 'An unnamed app', ...verified };
}

/** On a device, any program can use the name and document of another, so neither is verified. */
const onDevice = 'an app on this device';

/**
 * Title for use in a sentence. `destination` is the destination of the response; undefined for connections from before
 * it was stored.
 */
export function titleOf({ name, verifiedHost }: ShownClient, destination: Destination | undefined): string {
  if (destination && destination.kind !== 'web') return onDevice;
  return verifiedHost ?? destination?.name ?? name;
}

/** Title for lists, logs and the command line, without a destination: the verified host, or the app's own name. */
export function listedClient(clientId: string, clientName: string | undefined): string {
  const { name, verifiedHost } = shownClient(clientId, clientName);
  return verifiedHost === undefined ? name : `${verifiedHost} (calls itself “${name}”)`;
}

export function describeClient(client: ShownClient, destination: Destination | undefined): Html {
  const { name, verifiedHost } = client;
  const isProved = verifiedHost !== undefined && destination?.kind === 'web';
  const title = titleOf(client, destination);
  const badge = isProved
    ? html`<span class="badge">verified</span>`
    : html`<span class="badge unsure">unverified</span>`;
  const claim = title === name ? 'It gave itself this name.' : `Calls itself “${name}”.`;
  const also =
    verifiedHost !== undefined &&
    !isProved &&
    title !== verifiedHost &&
    html`<small>It says it is the app of ${verifiedHost}.</small>`;
  return html`${title === onDevice ? 'An app on this device' : title} ${badge}<small>${claim}</small>${also}`;
}

export function describeDestination({ kind, name }: Destination): Html {
  if (kind === 'web') return html`${name}`;
  if (kind === 'device') return html`This device<small>${name}</small>`;
  return html`An app on this device<small>that opens ${name}: links</small>`;
}
