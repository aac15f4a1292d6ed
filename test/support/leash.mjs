// Ends this process when the one that started it is gone, however that one ended: nothing may stay behind of a test.
process.stdin.once('end', () => process.exit(1)).once('error', () => process.exit(1));
process.stdin.resume();
