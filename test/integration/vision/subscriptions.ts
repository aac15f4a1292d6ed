import { expect } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { readWindows } from '../../support/rows.js';
import { element, type Element, inHours } from '../../support/scripted-vision.js';
import { sampleVideo } from '../../support/sample-video.js';
import type { VisionScene } from '../../support/vision-scene.js';

export interface Subscription {
  readonly id: string;
  readonly watermark: string;
  readonly enabled: boolean;
  readonly intervalSeconds: number;
  readonly lastError?: string;
}

export interface ListedRecording {
  readonly endTime: string;
  readonly durationSeconds: number;
  readonly partnerRecordingId: string;
  readonly cameraId: string;
  readonly sha256?: string;
  readonly status: string;
  readonly startTime: string;
}

export interface CoverageInterval {
  readonly state: string;
  readonly reason: string;
  readonly lastAskedAt?: string;
}

/** Subscriptions to TRUCK-7, and what came of them, for the connection that was stored last. */
export class Subscriptions {
  constructor(private readonly vision: VisionScene) {}

  async follow(connectionId: string, fields: object = {}): Promise<string> {
    const body = { connectionId, truckId: 'TRUCK-7', startTime: inHours(-4), ...fields };
    const { status, body: made } = await this.vision.app.admin<{ id: string }>('POST', '/video-subscriptions', body);
    expect(status).toBe(201);
    return made.id;
  }

  async read(id: string): Promise<Subscription> {
    return (await this.vision.app.admin<Subscription>('GET', `/video-subscriptions/${id}`)).body;
  }

  async recordings(): Promise<ListedRecording[]> {
    const path = `/recordings?connectionId=${this.vision.connectionId}&pageSize=100`;
    return (await this.vision.app.admin<{ data: ListedRecording[] }>('GET', path)).body.data;
  }

  /** The coverage of the front camera; `from` and `to` as in the query. */
  async coverage(from: string, to: string): Promise<CoverageInterval[]> {
    const query = `connectionId=${this.vision.connectionId}&truckId=TRUCK-7&cameraId=front&from=${from}&to=${to}`;
    return (await this.vision.app.admin<{ data: CoverageInterval[] }>('GET', `/coverage?${query}`)).body.data;
  }

  /** A recording of five minutes that started so many hours ago. */
  chunk(hours: number, fields: Element = {}): Element {
    return element({
      startTime: inHours(-hours),
      endTime: inHours(-hours + 1 / 12),
      downloadUrl: this.vision.partner.link(sampleVideo(1_000)),
      ...fields,
    });
  }

  /** Waits until it was read up to a minute ago; what waits for a time is started. */
  reachesNow(id: string): Promise<void> {
    return eventually(async () => {
      const { watermark } = await this.read(id);
      if (Date.parse(watermark) <= Date.now() - 90_000) await this.vision.hurry();
      expect(Date.parse(watermark)).toBeGreaterThan(Date.now() - 90_000);
    });
  }

  /** Has the last hours listed again, as an admin does, and waits until that is done. */
  async readAgain(id: string, hours = 4): Promise<void> {
    const body = { from: inHours(-hours), to: inHours(0) };
    const { status } = await this.vision.app.admin('POST', `/video-subscriptions/${id}/read-again`, body);
    expect(status).toBe(202);
    await this.isReadAgain();
  }

  /** Every window that waits to be read again was read. */
  isReadAgain(): Promise<void> {
    return eventually(async () => {
      await this.vision.hurry();
      expect((await readWindows(this.vision.app)).filter(({ isReread }) => isReread)).toEqual([]);
    });
  }
}
