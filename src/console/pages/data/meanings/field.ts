// What a field or relation means: a form for administrators.

import type { FieldMeaning } from '../../../../core/caller/meanings.ts';
import { fail } from '../../../../core/errors.ts';
import { html } from '../../../../http/html.ts';
import type { Answer, Parts, SignedInRequest } from '../../../page-request.ts';
import { openForm } from '../../../ui/form.ts';
import { meaningControls, openParts } from './controls.ts';
import {
  baseOf,
  fieldPage,
  type MeaningTarget,
  meaningPage,
  overtaken,
  partAnswer,
  readTarget,
  save,
} from './places.ts';
import {
  formOf,
  type MeaningForm,
  type ReadMeaning,
  readMeaning,
  readTyped,
  type Typed,
  textForm,
  toTyped,
} from './texts.ts';

interface FieldTarget extends MeaningTarget {
  readonly field: string;
  readonly form: MeaningForm;
  readonly what: string;
  readonly ofCode: FieldMeaning;
  readonly comment: string | undefined;
  readonly is: FieldMeaning | undefined;
}

/** Throws NOT_FOUND for an unknown field. */
function readFieldTarget(request: SignedInRequest, parts: Parts): FieldTarget {
  const target = readTarget(request, parts);
  const { collection, described, code, stored } = target;
  const field = request.params.field!;
  const columns = [...described.fields, ...(described.aggregates?.fields ?? [])];
  const column = columns.find(({ name }) => name === field);
  const relation = described.relations.find(({ name }) => name === field);
  const found = column ?? relation ?? fail('NOT_FOUND', { path: parts.paths.path(meaningPage(collection)) });
  const ofCode = code.fields.get(field) ?? {};
  return {
    ...{ ...target, field, ofCode },
    form: column ? formOf(column) : textForm,
    what: column
      ? column.type
      : `Relation to ${relation!.kind === 'one' ? 'one record' : 'records'} of ${relation!.to}`,
    comment: ofCode.description === undefined ? found.description : undefined,
    is: stored.fields.get(field),
  };
}

interface Shown {
  readonly typed?: Typed;
  readonly problems?: ReadMeaning['problems'];
  readonly problem?: string;
}

export async function showField(request: SignedInRequest, parts: Parts): Promise<Answer> {
  return fieldAnswer(request, parts, readFieldTarget(request, parts), {});
}

function fieldAnswer(request: SignedInRequest, parts: Parts, target: FieldTarget, shown: Shown): Answer {
  const { collection, field, form, what, ofCode, comment, is } = target;
  const { paths } = parts;
  const { typed = toTyped(is), problems, problem } = shown;
  const isWrong = problem !== undefined || problems !== undefined;
  const content = html`<h1>${field}</h1>
<p class="lead">${what}. Assistants read these texts if they may see the field.</p>
${problem !== undefined && html`<p class="alert" role="alert">${problem}</p>`}
${problem === overtaken && html`<p class="quietly"><a href="${paths.path(fieldPage(collection, field))}" target="_blank" rel="noopener">Show the stored texts</a> (new tab)</p>`}
${openForm(request, parts, fieldPage(collection, field))}<input type="hidden" name="base" value="${baseOf(is)}">
${meaningControls({ form, typed, code: ofCode, comment, problems })}
<div class="row-of-buttons"><button class="primary slim" name="action" value="save"${openParts(form, ofCode).length === 0 && html` disabled`}>Save</button></div></form>`;
  return partAnswer(request, parts, { collection, name: field, content, isWrong });
}

export async function saveField(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const target = readFieldTarget(request, parts);
  const { collection, field, form, ofCode, is } = target;
  const typed = readTyped(request.form);
  const { value, problems } = readMeaning(typed, form, openParts(form, ofCode));
  if (problems.size > 0) return fieldAnswer(request, parts, target, { typed, problems });
  const isSaved = await save(request, parts, { kind: 'field', collection, name: field }, is, value);
  if (!isSaved) return fieldAnswer(request, parts, target, { typed, problem: overtaken });
  return { to: `${meaningPage(collection)}?done=saved` };
}
