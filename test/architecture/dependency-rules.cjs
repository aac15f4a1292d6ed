/** The levels of CONTRIBUTING.md. Modules of levels 2 and 3 never import each other, with the exceptions below. */
const modules = (...names) => `^src/(${names.join('|')})/`;
const L0 = ['contracts', 'core/config'];
/** What every module stands on, from the bottom: a folder imports those before it alone. */
const CORE = [
  ['text', 'json', 'media', 'errors'],
  ['database'],
  ['outbound'],
  ['observability'],
  ['storage', 'work', 'http'],
  ['idempotency'],
].map((names) => names.map((name) => `core/${name}`));
const L1 = [...CORE.flat(), 'conformance'];
const L2 = ['auth', 'exchanges', 'partner-client'];
const L3 = ['scale', 'accounts', 'site-sync', 'vision', 'reference-partner', 'webhooks'];
const L4 = ['admin', 'cli', 'demo', 'console', 'embedded-postgres'];
const ENTRY = '^src/(app\\.module|app\\.setup|main|migrate)\\.ts$';

const above = {
  0: [...L1, ...L2, ...L3, ...L4],
  1: [...L2, ...L3, ...L4],
  2: [...L3, ...L4],
  3: L4,
};

/** The cases and their helpers. The others start the service of the tier, in the process of Jest itself. */
const ACCEPTANCE = {
  path: '^test/acceptance/',
  pathNot: '^test/acceptance/(target(-end)?\\.mjs|support/target-service\\.ts)$',
};

const noUpward = (level, names) => ({
  name: `level-${level}-imports-no-higher-level`,
  severity: 'error',
  from: { path: modules(...names) },
  to: { path: `${modules(...above[level])}|${ENTRY}` },
});

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', comment: 'of types neither', from: {}, to: { circular: true } },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    { name: 'no-barrels', severity: 'error', from: {}, to: { path: '^src/.*/index\\.ts$' } },
    {
      name: 'no-dev-dependencies',
      severity: 'error',
      comment: 'the build of the console includes its packages',
      from: { path: '^(src|migrations)/', pathNot: '^src/console/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'migrations-import-no-live-code',
      comment: 'a released migration must never change',
      severity: 'error',
      from: { path: '^migrations/' },
      to: { path: '^src/' },
    },
    noUpward(0, L0),
    noUpward(1, L1),
    noUpward(2, L2),
    noUpward(3, L3),
    ...CORE.map((names, floor) => ({
      name: `core-floor-${floor}-imports-downwards`,
      severity: 'error',
      from: { path: `^src/(${names.join('|')})/` },
      to: { path: modules(...CORE.slice(floor).flat()), pathNot: '^src/$1/' },
    })),
    {
      name: 'entry-is-the-top',
      severity: 'error',
      from: { path: modules(...L0, ...L1, ...L2, ...L3) },
      to: { path: ENTRY },
    },
    {
      name: 'level-2-modules-are-independent',
      severity: 'error',
      from: { path: `^src/(${L2.join('|')})/` },
      to: { path: modules(...L2), pathNot: '^src/$1/' },
    },
    {
      name: 'level-3-modules-are-independent',
      comment: 'only scale reads the catalog of site-sync; what happens is written into the outbox of webhooks',
      severity: 'error',
      from: { path: `^src/(${L3.join('|')})/` },
      to: {
        path: modules(...L3),
        pathNot: '^src/($1/|site-sync/catalog/catalog\\.repository\\.ts$|webhooks/events/)',
      },
    },
    {
      name: 'catalog-is-read-by-scale-alone',
      severity: 'error',
      from: { path: '^src/(accounts|vision)/' },
      to: { path: '^src/site-sync/' },
    },
    {
      name: 'reference-partner-calls-no-partner',
      severity: 'error',
      from: { path: '^src/reference-partner/' },
      to: { path: '^src/(partner-client|site-sync|vision)/' },
    },
    {
      name: 'cli-is-a-client',
      comment:
        'the command line uses the admin API over HTTP, by its contract; the commands of the database open it themselves',
      severity: 'error',
      from: { path: '^src/cli/', pathNot: '^src/cli/database-commands\\.ts$' },
      to: { path: '^src/', pathNot: '^src/(cli|contracts|core/(config|text))/' },
    },
    {
      name: 'database-commands-load-little-more',
      severity: 'error',
      from: { path: '^src/cli/database-commands\\.ts$' },
      to: {
        path: '^src/',
        pathNot: '^src/(cli|contracts|core/(config|text))/|^src/embedded-postgres/running-server\\.ts$',
      },
    },
    {
      name: 'console-is-a-client',
      comment:
        'the console runs in a browser: of the contracts it takes types, and the values of files that load nothing',
      severity: 'error',
      from: { path: '^src/console/' },
      to: {
        path: '^(src|node_modules)/',
        pathNot: '^(src/console/|src/contracts/.+\\.values\\.ts$|node_modules/preact/)',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'values-load-nothing',
      comment: 'the console, which runs in a browser, imports them',
      severity: 'error',
      from: { path: '\\.values\\.ts$' },
      to: { pathNot: '\\.values\\.ts$' },
    },
    {
      name: 'console-imports-contracts-alone',
      severity: 'error',
      from: { path: '^src/console/' },
      to: { path: '^src/', pathNot: '^src/(console|contracts)/' },
    },
    {
      name: 'console-is-imported-by-no-module',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/console/' },
      to: { path: '^src/console/' },
    },
    {
      name: 'conformance-imports-contracts-alone',
      comment: 'the kit is published as one file; the check of a connection uses its rules',
      severity: 'error',
      from: { path: '^src/conformance/' },
      to: {
        path: '^src/|^node_modules/(@nestjs|typeorm|pg)/',
        pathNot: '^src/(conformance|contracts|core/(media|text))/',
      },
    },
    {
      name: 'contracts-load-no-framework',
      comment: 'clients and the command line load the contracts',
      severity: 'error',
      from: { path: '^src/(contracts/|cli/admin-client\\.ts$)' },
      to: { path: '^node_modules/(@nestjs|typeorm|pg)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'only-the-start-uses-the-embedded-database',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: '^src/(embedded-postgres/|main\\.ts|migrate\\.ts|cli/database-commands\\.ts)',
      },
      to: { path: '^src/embedded-postgres/' },
    },
    {
      name: 'entities-stay-in-their-module',
      comment: 'an entity is imported in its own module, and by the root module, which gives all to TypeORM',
      severity: 'error',
      from: { path: '^src/([^/]+)/' },
      to: { path: '^src/[^/]+/.*\\.entity\\.ts$', pathNot: '^src/$1/' },
    },
    {
      name: 'axios-only-outbound',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(partner-client|vision/downloads|webhooks)/' },
      to: { path: '^node_modules/(axios|@nestjs/axios)/' },
    },
    {
      name: 'acceptance-is-outside',
      comment: 'the acceptance suite calls a running service, whose code may change as it likes; helpers count too',
      severity: 'error',
      from: ACCEPTANCE,
      to: { path: '^(src|migrations)/|^node_modules/(typeorm|@nestjs)/', reachable: true },
    },
    {
      name: 'acceptance-sends-no-sql',
      comment: 'test/support/test-run.ts creates its databases, and is the only way to one',
      severity: 'error',
      from: ACCEPTANCE,
      to: { path: '^node_modules/pg/|^test/support/(rows|time)\\.ts$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
