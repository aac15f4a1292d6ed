/** Folders must not import each other in a circle. */
const { options } = require('./dependency-rules.cjs');

module.exports = {
  forbidden: [
    { name: 'no-folder-cycles', severity: 'error', scope: 'folder', from: { path: '^src/' }, to: { circular: true } },
  ],
  options,
};
