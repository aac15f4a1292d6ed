import { expect } from '@jest/globals';
import type { TestApp } from './app.js';
import { eventually } from './eventually.js';
import { hurryVideo } from './time.js';

export interface ShownRequest {
  readonly id: string;
  readonly status: string;
  readonly reason?: string;
  readonly parts: {
    readonly status: string;
    readonly startTime: string;
    readonly endTime: string;
    readonly reason?: string;
  }[];
  readonly recordingIds: string[];
}

/** Five minutes of a morning, as `element` lists them. */
export const RANGE = { startTime: '2026-01-31T08:30:00Z', endTime: '2026-01-31T08:35:00Z' };

export async function orderVideo(app: TestApp, connectionId: string, fields: object = {}): Promise<string> {
  const body = { connectionId, truckId: 'TRUCK-7', cameraId: 'front', ...RANGE, ...fields };
  const { status, body: made } = await app.admin<{ id: string }>('POST', '/video-requests', body);
  expect(status).toBe(202);
  return made.id;
}

export const readRequest = async (app: TestApp, id: string): Promise<ShownRequest> =>
  (await app.admin<ShownRequest>('GET', `/video-requests/${id}`)).body;

/** Waits for a state, making due what waits for its time. */
export async function requestBecomes(app: TestApp, id: string, expected: object): Promise<ShownRequest> {
  await eventually(async () => {
    await hurryVideo(app);
    expect(await readRequest(app, id)).toMatchObject(expected);
  });
  return readRequest(app, id);
}
