import 'reflect-metadata';
import { runKit } from './kit.js';

process.exitCode = await runKit(process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
});
