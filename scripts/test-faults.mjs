// Runs the suites of test/faults in their long form, one after the other: they compete for the same two cores otherwise.
import { spawnSync } from 'node:child_process';

const jest = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];
const { status } = spawnSync(process.execPath, [...jest, '-i', 'test/faults', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, HAULBRIDGE_FAULTS: 'long' },
});
process.exitCode = status ?? 1;
