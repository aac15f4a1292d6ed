import { expect } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import {
  accepts,
  type Element,
  element,
  lists,
  POST,
  startVisionPartner,
  VIDEOS,
  type VisionPartner,
} from '../../support/scripted-vision.js';
import { Hauler, PARTNER_KEY, type Plain } from './hauler.js';
import { admin, administer, call, listed, read, type Service, target } from './target.js';

export interface ShownRequest {
  readonly id: string;
  readonly status: string;
  readonly reason?: string;
  readonly partnerRequestId?: string | null;
  readonly recordingIds: readonly string[];
  readonly parts: readonly { readonly status: string; readonly startTime: string; readonly endTime: string }[];
}

export interface ShownRecording {
  readonly id: string;
  readonly status: string;
  readonly truckId: string;
  readonly cameraId: string;
  readonly partnerRecordingId: string;
  readonly reason?: string;
  readonly sha256?: string | null;
  readonly sizeBytes?: number | null;
  readonly endTime: string;
}

interface Subscription {
  readonly id: string;
  readonly watermark: string;
  readonly enabled: boolean;
  readonly intervalSeconds: number;
  readonly lastError?: string;
}

interface Covered {
  readonly state: string;
  readonly reason?: string;
  readonly startTime: string;
  readonly lastAskedAt?: string;
}

const OPEN = new Set(['available', 'downloading']);
/** A connection may be poked 60 times a minute. */
const NUDGE_MS = 500;
/** Many cases wait at once. */
const LOOK_MS = 100;
/** As the coverage of a truck is asked for, where a test says nothing else. */
const FRONT = { truckId: 'TRUCK-7', cameraId: 'front' };

interface VisionSceneOptions {
  readonly service?: Service;
  readonly connection?: Plain & { readonly apiKey?: string };
  readonly hauler?: Hauler;
}

/** A hauler with a connection to a scripted partner of Vision. */
export class VisionScene {
  private nudgedAt = 0;

  private constructor(
    readonly hauler: Hauler,
    readonly partner: VisionPartner,
    readonly connectionId: string,
    /** The partner's key of the partner API. */
    readonly connectionKey: string,
    /** The key of the connection, which the partner issued. */
    private readonly partnerKey: string,
  ) {}

  /** Of a new hauler, unless one is given. */
  static async create({ service = target, connection = {}, hauler: known }: VisionSceneOptions = {}) {
    const hauler = known ?? (await Hauler.create({ service }));
    const partner = await startVisionPartner();
    const apiKey = PARTNER_KEY;
    const body = { interface: 'vision', baseUrl: partner.url, customerId: 'customer-1', apiKey, ...connection };
    const connectionId = await hauler.connect(body);
    const asked = { connectionId, name: 'poke' };
    const { key } = await administer<{ key: string }>('POST', '/api-keys', asked, hauler.service);
    return new VisionScene(hauler, partner, connectionId, key, body.apiKey);
  }

  /** Orders a clip, by default of five minutes of the front camera of TRUCK-7. Returns the id of the request. */
  async order(more: Plain = {}): Promise<string> {
    const { truckId, cameraId, startTime, endTime } = element();
    const body = { connectionId: this.connectionId, truckId, cameraId, startTime, endTime, ...more };
    return (await administer<{ id: string }>('POST', '/video-requests', body, this.hauler.service)).id;
  }

  /** The partner accepts requests, and lists these clips. */
  prepares(clips: () => readonly Element[], acknowledgement: Element = {}): void {
    this.partner.on(POST, accepts(acknowledgement));
    this.partner.on(VIDEOS, lists('videos', clips));
  }

  /** Follows a truck. Returns the id of the subscription. */
  async follow(more: Plain = {}): Promise<string> {
    const body = { connectionId: this.connectionId, truckId: 'TRUCK-7', ...more };
    return (await administer<{ id: string }>('POST', '/video-subscriptions', body, this.hauler.service)).id;
  }

  request(id: string): Promise<ShownRequest> {
    return read<ShownRequest>(`/video-requests/${id}`, this.hauler.service);
  }

  recordings(query = ''): Promise<ShownRecording[]> {
    return listed<ShownRecording>(`/recordings?connectionId=${this.connectionId}${query}`, this.hauler.service);
  }

  /** Waits until the request is as expected; what waits for a time is started at once (`nudge`). */
  async becomes(requestId: string, expected: Partial<ShownRequest>, withinMs = 45_000): Promise<ShownRequest> {
    return eventually(
      async () => {
        const shown = await this.request(requestId);
        if (shown.status !== expected.status) await this.nudge(requestId);
        expect(shown).toMatchObject(expected);
        return shown;
      },
      withinMs,
      LOOK_MS,
    );
  }

  /** The same for all recordings of the connection, in any order. */
  async recordingsBecome(expected: readonly Plain[], withinMs = 45_000): Promise<ShownRecording[]> {
    return eventually(
      async () => {
        const all = await this.recordings();
        if (all.some(({ status }) => OPEN.has(status)) || all.length < expected.length) await this.nudge();
        expect(all).toHaveLength(expected.length);
        expect(all).toEqual(expect.arrayContaining(expected.map((each) => expect.objectContaining(each) as unknown)));
        return all;
      },
      withinMs,
      LOOK_MS,
    );
  }

  subscription(id: string): Promise<Subscription> {
    return read<Subscription>(`/video-subscriptions/${id}`, this.hauler.service);
  }

  /** Waits until the subscription was read up to a minute ago; what waits for a time is started at once. */
  async isRead(subscriptionId: string): Promise<Subscription> {
    return eventually(
      async () => {
        const shown = await this.subscription(subscriptionId);
        const isBehind = Date.parse(shown.watermark) < Date.now() - 90_000;
        if (isBehind) await this.nudge();
        expect(isBehind).toBe(false);
        return shown;
      },
      undefined,
      LOOK_MS,
    );
  }

  /** The coverage between two times of the list, of the front camera of TRUCK-7 unless `query` says another. */
  async coverage(from: string, to: string, query: Plain = FRONT): Promise<Covered[]> {
    const where = new URLSearchParams({ connectionId: this.connectionId, from, to, ...query }).toString();
    return (await read<{ data: Covered[] }>(`/coverage?${where}`, this.hauler.service)).data;
  }

  /** What was wrong in the lists of the partner. */
  findings(): Promise<{ path: string; reason: string; raw: string }[]> {
    return listed(`/vision-findings?connectionId=${this.connectionId}`, this.hauler.service);
  }

  /**
   * Starts what waits for a time, as the outside can: a change of the key makes due what the partner had refused, a poke of the
   * partner a poll or a reading, and a retry of an administrator a download. Twice a second at most, because pokes are limited.
   */
  async nudge(requestId?: string, truckId = 'TRUCK-7'): Promise<void> {
    if (Date.now() - this.nudgedAt < NUDGE_MS) return;
    this.nudgedAt = Date.now();
    const { service } = this.hauler;
    await admin('PATCH', `/connections/${this.connectionId}`, { apiKey: this.partnerKey }, service);
    const headers = { 'API-KEY': this.connectionKey };
    const body = requestId === undefined ? { truckId } : { requestId };
    await call('POST', '/partner/v1/pokes', { headers, body }, service);
    for (const { id, status } of await this.recordings()) {
      if (OPEN.has(status)) await admin('POST', `/recordings/${id}/retry`, undefined, service);
    }
  }
}
