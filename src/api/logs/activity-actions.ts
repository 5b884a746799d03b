// Action names in the public API. An action of the contract gets its contract name. Any other action has the name of
// its tool or route, so the log shows every entry.

/** Our names and the contract's names. */
const contractNames: Readonly<Record<string, string>> = {
  list: 'index',
  get: 'read',
  listRelated: 'listRelatedData',
  executeAction: 'action',
  approve: 'approveApproval',
  deny: 'rejectApproval',
};
const ownNames: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(contractNames).map(([own, contractName]) => [contractName, own]),
);

const contractActions = [
  ...['create', 'read', 'update', 'delete', 'action', 'search', 'filter', 'listRelatedData', 'describeCollection'],
  ...['index', 'select', 'dashboard', 'workspace', 'export', 'createNote', 'openNote', 'deleteNote', 'createMessage'],
  ...['createApproval', 'approveApproval', 'rejectApproval', 'ignoreApprovalWarning', 'markApprovalAsFailed'],
  ...['startProcessingInboxTask', 'completeInboxTask', 'cancelInboxTask', 'cancelInboxTaskNotTreated'],
  ...['autoCancelInboxTask', 'assignUserToInboxTask', 'unassignUserFromInboxTask', 'sendApprovalBackInReview'],
  ...['triggerWorkflow', 'abortWorkflow', 'completeWorkflow', 'selectWorkflowOption', 'completeWorkflowStep'],
  ...['reviseWorkflowStep', 'resumeWorkflow'],
] as const;

/** Actions without a name in the contract. */
const ownActions = [
  ...['count', 'countRelated', 'aggregate', 'exportRelated', 'associate', 'dissociate', 'getActionForm', 'getChart'],
  ...['requestActionFileUpload', 'capabilities', 'scopeCacheInvalidation', 'aiQuery', 'nativeQuery', 'cloud.schema'],
  ...['updateNote', 'updateMessage', 'listWorkflows', 'getWorkflowRun', 'callRemoteTool', 'readFile', 'openFile'],
] as const;

export const actionNames: readonly string[] = [...contractActions, ...ownActions];

export const toContractName = (own: string): string => contractNames[own] ?? own;
export const toOwnName = (contractName: string): string => ownNames[contractName] ?? contractName;
