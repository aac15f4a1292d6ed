// Ends this process when the process that started it has ended, so that no test leaves one behind. A forked child of the
// service inherits this file; it watches its own parent.
if (process.send === undefined) {
  process.stdin.once('end', () => process.exit(1)).once('error', () => process.exit(1));
  process.stdin.resume();
}
