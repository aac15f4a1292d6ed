import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ROWS, rowsOf } from './coverage-rows.mjs';

const FOLDER = import.meta.dirname;
const PAGE = join(FOLDER, 'COVERAGE.md');
const WRITE = 'WRITE_COVERAGE';

/**
 * A reporter of Jest. When the whole tier has run, it compares `COVERAGE.md` with the titles of the tests, and fails the run
 * where a row of the interfaces or a decision has no case. `npm run coverage` writes the page.
 */
export default class CoverageReporter {
  constructor(globalConfig) {
    this.isFiltered = globalConfig.testNamePattern !== undefined && globalConfig.testNamePattern !== '';
  }

  onRunComplete(_contexts, { testResults }) {
    const files = testResults.filter(({ testFilePath }) => testFilePath.startsWith(`${FOLDER}/`));
    const isWhole = files.length === globSync('**/*.spec.ts', { cwd: FOLDER }).length;
    if (this.isFiltered || !isWhole || files.some(({ testExecError }) => testExecError != null)) return;
    const { page, missing, unknown } = coverage(files);
    if (process.env[WRITE]) writeFileSync(PAGE, page);
    const faults = [
      ...missing.map((row) => `no acceptance test names "${row}" in its title`),
      ...unknown.map((row) => `a title names "${row}", which is no row (test/acceptance/coverage-rows.mjs)`),
      ...(readFileSync(PAGE, 'utf8') === page ? [] : ['COVERAGE.md is not of these titles: run `npm run coverage`']),
    ];
    if (faults.length === 0) return;
    this.error = new Error(faults.join('\n'));
    process.stderr.write(`\ncoverage of the acceptance tests:\n${this.error.message}\n`);
  }

  getLastError() {
    return this.error;
  }
}

/** The page, the rows without a case, and the names of titles that are no rows. */
function coverage(files) {
  const cases = new Map(ROWS.map((row) => [row, new Map()]));
  const unknown = new Set();
  for (const { testFilePath, testResults } of files) {
    const file = relative(FOLDER, testFilePath);
    for (const { fullName, failing } of testResults) {
      for (const row of rowsOf(fullName)) {
        const of = cases.get(row);
        if (of === undefined) unknown.add(row);
        else of.set(file, (of.get(file) ?? true) && failing === true);
      }
    }
  }
  const missing = ROWS.filter((row) => cases.get(row).size === 0);
  return { page: pageOf(cases), missing, unknown: [...unknown] };
}

function pageOf(cases) {
  const lines = [...cases].map(([row, files]) => {
    const names = [...files]
      .sort()
      .map(([file, isFailing]) => `\`${file}\`${isFailing ? ' (promised, not built yet)' : ''}`);
    return `| ${row} | ${names.join(', ') || '**none**'} |`;
  });
  return `# What the acceptance tests cover

Made from the titles of the tests by \`npm run coverage\`. A row without a case fails \`npm run test:acceptance\`. Sections are those of
the interface document, decisions those of [docs/decisions.md](../../docs/decisions.md).

| row | cases |
| --- | --- |
${lines.join('\n')}
`;
}
