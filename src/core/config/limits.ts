// Limits on the size and duration of one call.
import { flagged, list, oneOf, setting, whole } from './setting.ts';

export const limitSettings = {
  requestSeconds: setting({
    env: 'SERVICE_REQUEST_SECONDS',
    about: 'How long a request may take to arrive',
    fallback: 30,
    read: whole(1, 600),
  }),
  bodyLimitBytes: setting({
    env: 'SERVICE_BODY_LIMIT_BYTES',
    about: 'Largest request body of /mcp',
    fallback: 1_048_576,
    read: whole(10_000, 100_000_000),
  }),
  requestsPerMinute: setting({
    env: 'SERVICE_MCP_REQUESTS_PER_MINUTE',
    about: 'Requests of one user at /mcp in a minute, in each process; 0 is no limit',
    fallback: 6000,
    read: whole(0, 10_000_000),
  }),
  jsonDepthLimit: setting({
    env: 'SERVICE_JSON_DEPTH_LIMIT',
    about: 'Deepest nesting of a request body',
    fallback: 64,
    read: whole(16, 1000),
  }),
  pageSize: setting({
    env: 'SERVICE_PAGE_SIZE',
    about: 'Records of a list when the caller names no number',
    fallback: 15,
    read: whole(1, 1000),
  }),
  pageSizeLimit: setting({
    env: 'SERVICE_PAGE_SIZE_LIMIT',
    about: 'Most records of one list',
    fallback: 1000,
    read: whole(1, 10_000),
  }),
  answerTokens: setting({
    env: 'SERVICE_ANSWER_TOKENS',
    about: 'Budget of one answer, in tokens of a language model',
    fallback: 8000,
    read: whole(500, 1_000_000),
  }),
  fileLimitBytes: setting({
    env: 'SERVICE_FILE_LIMIT_BYTES',
    about: 'Largest file that is sent to an action, or that an action gives',
    fallback: 20_971_520,
    read: whole(1000, 500_000_000),
  }),
  approvalSeconds: setting({
    env: 'SERVICE_APPROVAL_SECONDS',
    about: 'How long a call that needs approval waits for it',
    fallback: 3600,
    read: whole(60, 80_000),
  }),
  approvalUseSeconds: setting({
    env: 'SERVICE_APPROVAL_USE_SECONDS',
    about: 'How long an approved call may be made, and a question of the assistant be answered',
    fallback: 900,
    read: whole(60, 6000),
  }),
  approvalExecution: setting({
    env: 'SERVICE_APPROVAL_EXECUTION',
    about: 'Who executes a call that was approved in the console: server (at once) or assistant (its next try)',
    fallback: 'server' as const,
    read: oneOf('server', 'assistant'),
  }),
  webhookHosts: setting({
    env: 'SERVICE_WEBHOOK_HOSTS',
    names: 'allowed',
    about: 'Hosts that webhooks of actions and callbacks of workflows may reach though their addresses are not public',
    fallback: [] as readonly string[],
    read: list,
  }),
  remoteHosts: setting({
    env: 'SERVICE_REMOTE_HOSTS',
    names: 'allowed',
    about:
      'Hosts of remote MCP servers that may be reached though their addresses are not public, and without https; each only for the servers whose own address, or typed issuer, is there',
    fallback: [] as readonly string[],
    read: list,
  }),
  querySeconds: setting({
    env: 'SERVICE_QUERY_SECONDS',
    about: 'How long one query may run',
    fallback: 30,
    read: whole(1, 3600),
  }),
  queriesAtOnce: setting({
    env: 'SERVICE_QUERIES_AT_ONCE',
    about: 'Queries of one user that a database works on at once, in each process; others of theirs wait',
    fallback: 3,
    read: whole(1, 1000),
  }),
  callSeconds: setting({
    env: 'SERVICE_CALL_SECONDS',
    about: 'How long one call may take in all, with every query and the code of actions and hooks',
    fallback: 300,
    read: whole(1, 86_400),
  }),
  workflows: setting({
    env: 'SERVICE_WORKFLOWS',
    about: 'This process executes runs of workflows; off: they wait for another that does',
    fallback: true,
    read: flagged,
  }),
  workflowRunsAtOnce: setting({
    env: 'SERVICE_WORKFLOW_RUNS_AT_ONCE',
    about: 'How many runs of workflows this process works at at the same time',
    fallback: 8,
    read: whole(1, 200),
  }),
} as const;
