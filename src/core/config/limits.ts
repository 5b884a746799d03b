// Limits on the size and duration of one call.
import { flagged, list, mailSender, mailServer, oneOf, setting, text, webhookSecret, wholeNumber } from './setting.ts';

export const limitSettings = {
  requestSeconds: setting({
    env: 'SERVICE_REQUEST_SECONDS',
    about: 'How long a request may take to arrive',
    fallback: 30,
    read: wholeNumber(1, 600),
  }),
  bodyLimitBytes: setting({
    env: 'SERVICE_BODY_LIMIT_BYTES',
    about: 'Maximum size of a request body of /mcp',
    fallback: 1_048_576,
    read: wholeNumber(10_000, 100_000_000),
  }),
  requestsPerMinute: setting({
    env: 'SERVICE_MCP_REQUESTS_PER_MINUTE',
    about:
      "Requests per minute of one user to /mcp, and with application tokens to the agent's HTTP API, in each process; 0 is no limit",
    fallback: 6000,
    read: wholeNumber(0, 10_000_000),
  }),
  jsonDepthLimit: setting({
    env: 'SERVICE_JSON_DEPTH_LIMIT',
    about: 'Maximum nesting of a request body',
    fallback: 64,
    read: wholeNumber(16, 1000),
  }),
  pageSize: setting({
    env: 'SERVICE_PAGE_SIZE',
    about: 'Number of records in a list if the caller does not set one',
    fallback: 15,
    read: wholeNumber(1, 1000),
  }),
  pageSizeLimit: setting({
    env: 'SERVICE_PAGE_SIZE_LIMIT',
    about: 'Maximum number of records in a list',
    fallback: 1000,
    read: wholeNumber(1, 10_000),
  }),
  answerTokens: setting({
    env: 'SERVICE_ANSWER_TOKENS',
    about: 'Maximum size of one answer, in tokens of a language model',
    fallback: 8000,
    read: wholeNumber(500, 1_000_000),
  }),
  fileLimitBytes: setting({
    env: 'SERVICE_FILE_LIMIT_BYTES',
    about: 'Maximum size of a file that an action receives or returns',
    fallback: 20_971_520,
    read: wholeNumber(1000, 500_000_000),
  }),
  approvalSeconds: setting({
    env: 'SERVICE_APPROVAL_SECONDS',
    about: 'How long a call that requires approval waits for it',
    fallback: 3600,
    read: wholeNumber(60, 80_000),
  }),
  approvalUseSeconds: setting({
    env: 'SERVICE_APPROVAL_USE_SECONDS',
    about: 'How long an approval remains valid, and how long a question from the assistant can be answered',
    fallback: 900,
    read: wholeNumber(60, 6000),
  }),
  approvalExecution: setting({
    env: 'SERVICE_APPROVAL_EXECUTION',
    about: 'Executor of a call that was approved in the console: server (immediately) or assistant (on its next try)',
    fallback: 'server' as const,
    read: oneOf('server', 'assistant'),
  }),
  webhookHosts: setting<readonly string[]>({
    env: 'SERVICE_WEBHOOK_HOSTS',
    names: 'allowed',
    about:
      'Hosts that webhooks of actions, callbacks of workflows and notifications may reach even if their addresses are not public',
    fallback: [],
    read: list,
  }),
  notifyUrl: setting<string | null>({
    env: 'SERVICE_NOTIFY_URL',
    about: 'Address that gets a signed POST when an approval or a question of a workflow waits for people',
    fallback: null,
    read: text,
  }),
  notifySecret: setting<string | null>({
    env: 'SERVICE_NOTIFY_SECRET',
    secret: true,
    about: 'Secret that signs notifications (Standard Webhooks): whsec_ and 24 to 64 bytes in base64',
    fallback: null,
    read: webhookSecret,
  }),
  mailUrl: setting<string | null>({
    env: 'SERVICE_MAIL_URL',
    secret: true,
    about:
      'Mail server for invitations, forgotten passwords and what waits for people: smtps://user:password@mail.example.com, or smtp:// with STARTTLS',
    fallback: null,
    read: mailServer,
  }),
  mailFrom: setting<string | null>({
    env: 'SERVICE_MAIL_FROM',
    about: 'Sender of mails, such as Portico <portico@example.com>',
    fallback: null,
    read: mailSender,
  }),
  remoteHosts: setting<readonly string[]>({
    env: 'SERVICE_REMOTE_HOSTS',
    names: 'allowed',
    about:
      'Hosts of remote MCP servers that are allowed with private addresses and without https; each only for servers that have it in their own URL or configured issuer',
    fallback: [],
    read: list,
  }),
  querySeconds: setting({
    env: 'SERVICE_QUERY_SECONDS',
    about: 'How long one query may run',
    fallback: 30,
    read: wholeNumber(1, 3600),
  }),
  queriesAtOnce: setting({
    env: 'SERVICE_QUERIES_AT_ONCE',
    about: 'Concurrent queries of one user per database, in each process; further queries wait',
    fallback: 3,
    read: wholeNumber(1, 1000),
  }),
  callSeconds: setting({
    env: 'SERVICE_CALL_SECONDS',
    about: 'How long one call may take in total, including every query and the code of actions and hooks',
    fallback: 300,
    read: wholeNumber(1, 86_400),
  }),
  workflows: setting({
    env: 'SERVICE_WORKFLOWS',
    about: 'Execute workflow runs in this process; if off, they wait for another process',
    fallback: true,
    read: flagged,
  }),
  workflowRunsAtOnce: setting({
    env: 'SERVICE_WORKFLOW_RUNS_AT_ONCE',
    about: 'Number of workflow runs that this process executes concurrently',
    fallback: 8,
    read: wholeNumber(1, 200),
  }),
} as const;
