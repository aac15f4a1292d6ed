import type { TestApp } from './app.js';

/**
 * Rows that the product cannot make or show, written and read for tests. With `time.ts`, the only SQL of the tests: a change of
 * a table is one edit.
 */

const VIDEO_SOURCES = ['video_windows', 'video_subscriptions', 'video_polls'];
const VIDEO_ROWS = ['recordings', 'video_request_parts', 'video_requests', 'vision_findings'];

/**
 * Deletes the sources of recordings first, so that running work cannot write any more. TRUNCATE would deadlock with
 * running work.
 */
export async function deleteVideoRows(app: TestApp): Promise<void> {
  for (const table of [...VIDEO_SOURCES, ...VIDEO_ROWS]) await app.dataSource.query(`DELETE FROM ${table}`);
}
