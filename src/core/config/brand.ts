// The brand of the operator on pages, in mails and for clients.
import { setting, text } from './setting.ts';

export const brandSettings = {
  brandName: setting<string | null>({
    env: 'SERVICE_BRAND_NAME',
    about: 'Name on pages, in mails and for MCP clients, instead of the organization and Portico',
    fallback: null,
    read: (value) => {
      const name = value.trim();
      if (name === '' || name.length > 60 || /\p{C}/u.test(name))
        throw new Error('expected a name of 1 to 60 characters');
      return name;
    },
  }),
  brandLogo: setting<string | null>({
    env: 'SERVICE_BRAND_LOGO',
    about: 'Path of the logo, a PNG or SVG file of at most 32 KiB, best a square',
    fallback: null,
    read: text,
  }),
  brandColor: setting<string | null>({
    env: 'SERVICE_BRAND_COLOR',
    about: 'Color of buttons and links, such as #1f5f4a; made darker or lighter where text would be hard to read',
    fallback: null,
    read: (value) => {
      if (!/^#[0-9a-f]{6}$/i.test(value)) throw new Error('expected a color such as #1f5f4a');
      return value.toLowerCase();
    },
  }),
} as const;
