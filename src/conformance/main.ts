import 'reflect-metadata';
import { runKit } from './kit.js';

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());

process.exitCode = await runKit(process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  stop: stop.signal,
});
