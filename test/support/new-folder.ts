import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { testServer } from './test-run.js';

export const newFolder = (): string => mkdtempSync(join(testServer().folder, 'folder-'));
