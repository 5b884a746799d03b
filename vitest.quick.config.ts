// `npm test`, in at most ten minutes on two cores. CI runs the other files and databases with `npm run test:all`.
import { configure } from './vitest.config.ts';

export default configure({
  leftOut: [
    // Other programs are tested, or other builds: mutated sources, copies of the repository, other compilers and packages.
    'test/spec/ledger.test.ts',
    'test/docs-contributing.test.ts',
    'test/defects/consumer-types.test.ts',
    'test/agent/typings.test.ts',
    'test/bench.test.ts',
    'test/cli/{cloud,cloud-folder}.test.ts',
    'test/{package,examples}/**',
    // A browser. test/console/browser.test.ts stays.
    'test/console/{accessibility,api-page,notes-browser,account-browser,rights-browser,playground-browser}.test.ts',
    'test/console/{journey,activity-journey,start-journey,workflow-journey,script}.test.ts',
    'test/oauth/{device-browser,sso-browser,keyboard}.test.ts',
    'test/{rest,site}/browser.test.ts',
    'test/mcp/chart-view.test.ts',
    // Killed processes, lost storage and databases, full disks, restarts.
    'test/processes/**',
    'test/app/{crash,faults-at-commit,full-disk,leaving,lost-commit,lost-database,restart-load}.test.ts',
    'test/app/stall/**',
    'test/workflow/{faults,races,restarts}.test.ts',
    'test/platform/{away,command}.test.ts',
    // Large data and long calls.
    'test/agent/heavy-filters.test.ts',
    'test/app/long-answers.test.ts',
    'test/mcp/long-calls.test.ts',
    'test/sql/{large-answers,many-tables,stopping}.test.ts',
    // Random requests. test/agent/oracle/{oracle,operators,writes}.test.ts stay.
    'test/agent/oracle/{across,aggregates,links,writes-across}.test.ts',
    'test/agent/analysis-oracle/**',
    'test/api/{fuzz,notes-random}.test.ts',
    'test/app/differences/**',
    'test/policy/policy.test.ts',
    // test/oauth/conformance/root.test.ts makes the same requests without a base path.
    'test/oauth/conformance/base-path.test.ts',
  ],
  databasesAbove: 'sqlite',
});
