import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { newName } from '../shared/storage-cases.js';

// Node.js ends a process that collects an open file handle. Only /proc shows which handles are open.
(process.platform === 'linux' ? test : test.skip)(
  'a draft leaves no open handle if the disk fails while it is published, created or opened',
  async () => {
    const root = await mkdtemp(join(tmpdir(), 'haulbridge-dying-'));
    try {
      const child = join(import.meta.dirname, '../support/failing-disk-child.mjs');
      const { stdout } = await promisify(execFile)(process.execPath, [child, root, newName()]);
      expect(JSON.parse(stdout)).toEqual({
        publishing: ['failed', 0, 0],
        creating: ['failed', 0, 0],
        // The bytes are kept for a later attempt.
        opening: ['failed', 0, 1],
      });
    } finally {
      await rm(root, { recursive: true });
    }
  },
);
