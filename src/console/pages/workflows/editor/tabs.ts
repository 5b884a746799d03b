// The tabs of the editor, as links: the steps as forms, and the definition as JSON.
import { type Html, html } from '../../../../http/html.ts';
import type { Parts } from '../../../page-request.ts';
import { under, workflowPage } from '../access.ts';

export const editPage = (id: string): string => `${workflowPage(id)}/edit`;
export const jsonPage = (id: string): string => `${workflowPage(id)}/edit/json`;
export const stepPage = (id: string, step: string): string => `${workflowPage(id)}/steps/${step}`;
export const addPage = (id: string): string => `${workflowPage(id)}/add`;
export const tryPage = (id: string): string => `${workflowPage(id)}/try`;
export const newPage = `${under}/new`;
export const newJsonPage = `${under}/new/json`;

/** `id`: absent for a new workflow. */
export function tabs(current: 'steps' | 'json' | 'try', id: string | undefined, { paths }: Pick<Parts, 'paths'>): Html {
  const all = [
    ['steps', 'Steps', id === undefined ? newPage : editPage(id)],
    ...(id === undefined ? [] : [['try', 'Dry run', tryPage(id)] as const]),
    ['json', 'JSON', id === undefined ? newJsonPage : jsonPage(id)],
  ] as const;
  return html`<nav class="wf-tabs" aria-label="Editor">${all.map(([key, text, page]) => html`<a href="${paths.path(page)}"${key === current && html` aria-current="page"`}>${text}</a>`)}</nav>`;
}
