// Converts an error to a JSON:API error object, in the form that agent clients read.
import { type AppError, isAppError } from '../core/errors.ts';

const names: Readonly<Record<number, string>> = {
  400: 'BadRequestError',
  401: 'UnauthorizedError',
  403: 'ForbiddenError',
  404: 'NotFoundError',
  405: 'MethodNotAllowedError',
  413: 'PayloadTooLargeError',
  422: 'UnprocessableError',
  429: 'TooManyRequestsError',
};

/** Structured details for programs, for the errors that have them. */
function errorData(error: AppError): object | undefined {
  if (isAppError(error, 'INVALID_FORM')) return { fields: error.details.fields };
  if (isAppError(error, 'INVALID_RECORD')) return { fields: error.details.problems };
  if (isAppError(error, 'RECORD_NOT_FOUND')) return error.details.missing && { missing: error.details.missing };
  if (isAppError(error, 'NEEDS_APPROVAL') && error.details.action !== undefined)
    return { roleIdsAllowedToApprove: error.details.roleIdsAllowedToApprove };
  return undefined;
}

function errorName(error: AppError): string {
  // Clients use this name to detect that an action waits for an approval.
  if (isAppError(error, 'NEEDS_APPROVAL') && error.details.action !== undefined)
    return 'CustomActionRequiresApprovalError';
  if (isAppError(error, 'INVALID_FORM') || isAppError(error, 'INVALID_RECORD')) return 'ValidationError';
  return names[error.status] ?? 'InternalServerError';
}

export function describeError(error: AppError) {
  const { status, code } = error;
  const data = errorData(error);
  return { name: errorName(error), detail: errorDetail(error), status, code, ...(data && { data }) };
}

const formatSuggestions = (near: readonly string[]): string => (near.length > 0 ? ` Near: ${near.join(', ')}.` : '');
const nextStep = 'POST to /_internal/capabilities';

/** The shared error messages name MCP tools as the next step. These messages name a route of this API. */
function errorDetail(error: AppError): string {
  if (isAppError(error, 'UNKNOWN_COLLECTION')) {
    const { collection, near } = error.details;
    return `No collection '${collection}'.${formatSuggestions(near)} ${nextStep} for the list.`;
  }
  if (isAppError(error, 'UNKNOWN_FIELD')) {
    const { collection, field, near } = error.details;
    return `'${collection}' has no field '${field}'.${formatSuggestions(near)} ${nextStep} for all fields.`;
  }
  if (isAppError(error, 'INSUFFICIENT_SCOPE'))
    return `This call needs the scope ${error.details.scope}. Create an application token with it.`;
  return error.message;
}
