import { readFileSync } from 'node:fs';
import type { TestApp } from './app.js';
import type { Reply } from './http.js';
import { demoRecording } from '../../src/demo/demo-data.js';

export const CUSTOMER = 'ACME Hauling';
export const TRUCK = 'TRUCK-7';
/** Ten minutes are recorded from here on. */
export const FIRST = Date.parse('2026-01-31T08:30:00Z');
export const MINUTE = 60_000;

export const at = (minutes: number): string => new Date(FIRST + minutes * MINUTE).toISOString();

export interface Upload {
  readonly customerId?: string;
  readonly truckId?: string;
  readonly cameraId?: string;
  readonly startTime?: string;
  readonly endTime?: string;
}

export const demoVideo = (minute: number, camera: 'front' | 'rear' = 'front') =>
  readFileSync(demoRecording(camera, new Date(FIRST + minute * MINUTE)));

/** Uploads the demo's video of a minute, or other bytes in its place. */
export function upload<Body = { id: string; sizeBytes: number; sha256: string }>(
  service: TestApp,
  minute: number,
  query: Upload = {},
  bytes: Uint8Array = demoVideo(minute),
  type = 'video/mp4',
): Promise<Reply<Body>> {
  const parameters = new URLSearchParams({
    customerId: CUSTOMER,
    truckId: TRUCK,
    cameraId: 'front',
    startTime: at(minute),
    endTime: at(minute + 1),
    ...query,
  });
  return service.call<Body>('POST', `/admin/v1/hosted/recordings?${parameters.toString()}`, {
    headers: { Authorization: `Bearer ${service.env.ADMIN_TOKEN}`, 'Content-Type': type },
    body: bytes,
  });
}
