// How the public API names what was done. What has a name in its contract is told by that name; everything else by the name of
// the tool or route, so that no entry is hidden.

/** Our name, and the one of the contract. */
const renamed: Readonly<Record<string, string>> = {
  list: 'index',
  get: 'read',
  listRelated: 'listRelatedData',
  executeAction: 'action',
  approve: 'approveApproval',
  deny: 'rejectApproval',
};
const ours: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(renamed).map(([own, told]) => [told, own]),
);

const contract = [
  ...['create', 'read', 'update', 'delete', 'action', 'search', 'filter', 'listRelatedData', 'describeCollection'],
  ...['index', 'select', 'dashboard', 'workspace', 'export', 'createNote', 'openNote', 'deleteNote', 'createMessage'],
  ...['createApproval', 'approveApproval', 'rejectApproval', 'ignoreApprovalWarning', 'markApprovalAsFailed'],
  ...['startProcessingInboxTask', 'completeInboxTask', 'cancelInboxTask', 'cancelInboxTaskNotTreated'],
  ...['autoCancelInboxTask', 'assignUserToInboxTask', 'unassignUserFromInboxTask', 'sendApprovalBackInReview'],
  ...['triggerWorkflow', 'abortWorkflow', 'completeWorkflow', 'selectWorkflowOption', 'completeWorkflowStep'],
  ...['reviseWorkflowStep', 'resumeWorkflow'],
] as const;

/** What the contract has no name for. */
export const ownActions = [
  ...['count', 'countRelated', 'aggregate', 'exportRelated', 'associate', 'dissociate', 'getActionForm', 'getChart'],
  ...['requestActionFileUpload', 'capabilities', 'scopeCacheInvalidation', 'aiQuery', 'nativeQuery', 'cloud.schema'],
  ...['updateNote', 'updateMessage', 'listWorkflows', 'getWorkflowRun', 'callRemoteTool'],
] as const;

export const actionNames: readonly string[] = [...contract, ...ownActions];

export const showAction = (own: string): string => renamed[own] ?? own;
export const readAction = (told: string): string => ours[told] ?? told;
