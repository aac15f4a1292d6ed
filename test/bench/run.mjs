// `npm run bench -- NAME [ARGUMENT ...]` runs test/bench/NAME.bench.ts; `all` runs every one of them.
import { readdirSync } from 'node:fs';
import { registerTypeScript } from '../support/typescript-hook.mjs';

const names = readdirSync(import.meta.dirname)
  .flatMap((entry) => /^([a-z-]+)\.bench\.ts$/.exec(entry)?.[1] ?? [])
  .sort();
const [, , name, ...rest] = process.argv;
const chosen = name === 'all' ? names : names.filter((known) => known === name);
if (chosen.length === 0) {
  process.stderr.write(`There are these benchmarks: ${names.join(', ')}, all\n`);
  process.exit(1);
}
registerTypeScript();
const { undoAll } = await import('./cleanup.ts');
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void undoAll().finally(() => process.exit(1)));
for (const one of chosen) {
  try {
    const { run } = await import(`./${one}.bench.ts`);
    await run(rest);
  } catch (error) {
    process.stderr.write(`${one} failed: ${error.stack}\n`);
    process.exitCode = 1;
  } finally {
    await undoAll();
  }
}
