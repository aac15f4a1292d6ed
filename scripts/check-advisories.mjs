// Fails if an installed package has a known advisory, or if the registry does not answer. It needs a network, so it is part of
// `npm run test:nightly` alone.
import { spawnSync } from 'node:child_process';

const OPTIONS = ['--json', '--fetch-retries=0', '--fetch-timeout=10000'];

const { stdout } = spawnSync('npm', ['audit', ...OPTIONS], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
const report = parse(stdout);
if (report?.vulnerabilities === undefined) {
  const reason = report?.statusCode === undefined ? 'no report of npm audit' : `status ${report.statusCode}`;
  process.stderr.write(`advisories: not checked, the registry returned no report (${reason})\n`);
  process.exitCode = 1;
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
