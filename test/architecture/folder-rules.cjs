/** Folders must not import each other in a circle. The data source is left out: it imports the entities of all modules. */
const { options } = require('./dependency-rules.cjs');

module.exports = {
  forbidden: [
    { name: 'no-folder-cycles', severity: 'error', scope: 'folder', from: { path: '^src/' }, to: { circular: true } },
  ],
  options: { ...options, exclude: { path: '^src/database/data-source\\.ts$' } },
};
