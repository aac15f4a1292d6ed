// Fails if an installed package has a known advisory. Without an answer of the registry it says so and passes: a run
// without a network must not depend on it.
import { spawnSync } from 'node:child_process';

const OPTIONS = ['--json', '--fetch-retries=0', '--fetch-timeout=10000'];

const { stdout } = spawnSync('npm', ['audit', ...OPTIONS], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
const report = parse(stdout);
if (report?.vulnerabilities === undefined) {
  const reason = report?.statusCode === undefined ? 'no report of npm audit' : `status ${report.statusCode}`;
  process.stdout.write(`advisories: not checked, the registry gives none (${reason})\n`);
} else {
  const found = Object.values(report.vulnerabilities).flatMap(({ name, via }) =>
    via
      .filter((cause) => typeof cause === 'object')
      .map(({ severity, title, url }) => `${name}: ${severity}: ${title} ${url}`),
  );
  for (const line of found) process.stderr.write(`advisories: ${line}\n`);
  if (found.length > 0) {
    process.stderr.write('advisories: update these packages, or replace them\n');
    process.exitCode = 1;
  }
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
