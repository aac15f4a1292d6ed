// Runs suites of test/nightly in their long form, all or those named, one after the other, because they would compete for
// the same cores. Options are Jest's: `npm run test:faults -- kill overload --verbose`.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

const FOLDER = 'test/nightly';
const END = '.spec.ts';

const words = process.argv.slice(2);
const all = readdirSync(FOLDER)
  .filter((file) => file.endsWith(END))
  .map((file) => file.slice(0, -END.length));
// What follows an option belongs to it.
const firstOption = words.findIndex((word) => word.startsWith('-'));
const names = firstOption === -1 ? words : words.slice(0, firstOption);
const unknown = names.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`unknown suite: ${unknown.join(', ')}; the suites are ${all.join(', ')}\n`);
  process.exit(1);
}
const files = (names.length > 0 ? names : all).map((name) => `${FOLDER}/${name}${END}`);
const jest = ['node_modules/jest/bin/jest.js', '-i', ...words.slice(names.length), '--runTestsByPath', ...files];
const env = { ...process.env, HAULBRIDGE_FAULTS: 'long' };
const { status } = spawnSync(process.execPath, jest, { stdio: 'inherit', env });
process.exitCode = status ?? 1;
