// Pages for errors. Each has a link back.
import type { AppError, ErrorCode } from '../../core/errors.ts';
import { html } from '../../http/html.ts';
import { messagePage, type Page } from '../../http/page.ts';
import type { Parts, SignedInRequest } from '../page-request.ts';
import type { ConsolePaths } from '../paths.ts';
import { consoleLook, createFramedPage } from './frame.ts';

const title = 'Page not found';
const text = 'The page does not exist, or you do not have access to it.';

/** For visitors without a session. */
export const missingPage = (paths: Pick<ConsolePaths, 'path'>): Page =>
  messagePage({ title, text, link: { href: paths.path(''), text: 'Go to the start page' } }, consoleLook);

export function framedMissingPage(request: SignedInRequest, parts: Parts): Page {
  const content = html`<h1>${title}</h1>
<p class="lead" role="alert">${text} If you followed a link, ask its sender who has access.</p>
<p><a href="${parts.paths.path('')}">Go to the start page</a></p>`;
  return createFramedPage(request, parts, { title, under: null, content });
}

const titles: Partial<Record<ErrorCode, string>> = {
  METHOD_NOT_ALLOWED: 'This page does not support that request',
  HOST_NOT_ALLOWED: 'This host name is not served',
};

export function errorPage(error: AppError, paths: Pick<ConsolePaths, 'path'>): Page {
  if (error.code === 'NOT_FOUND') return missingPage(paths);
  const link = { href: paths.path(''), text: 'Go to the start page' };
  return messagePage({ title: titles[error.code] ?? 'Something went wrong', text: error.message, link }, consoleLook);
}
