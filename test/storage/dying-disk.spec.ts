import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { newName } from '../shared/storage-cases.js';

// Node.js ends a process in which a forgotten file handle is collected; /proc alone tells which are open.
(process.platform === 'linux' ? test : test.skip)(
  'a writer leaves no handle open where the disk fails it: publishing, making its file, taking one up',
  async () => {
    const root = await mkdtemp(join(tmpdir(), 'haulbridge-dying-'));
    try {
      const child = join(import.meta.dirname, '../support/failing-disk-child.mjs');
      const { stdout } = await promisify(execFile)(process.execPath, [child, root, newName()]);
      expect(JSON.parse(stdout)).toEqual({
        publishing: ['failed', 0, 0],
        making: ['failed', 0, 0],
        // The bytes are there for whoever comes when the disk is well again.
        takingUp: ['failed', 0, 1],
      });
    } finally {
      await rm(root, { recursive: true });
    }
  },
);
