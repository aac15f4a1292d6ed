// Imported before the service: on SIGUSR2 it collects garbage and writes one line, `live memory <bytes>`, to stdout.
// What lives then, in the heap and beside it (buffers), is what the service holds on to; its RSS also has in it what
// the allocator keeps for later.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
process.on('SIGUSR2', () => {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  process.stdout.write(`live memory ${heapUsed + external}\n`);
});
