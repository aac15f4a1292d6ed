import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import type { Reply } from '../../support/http.js';
import { sampleVideo } from '../../support/sample-video.js';
import type { Element } from '../../support/scripted-vision.js';
import type { Client } from '../../../clients/typescript/haulbridge.js';
import { type Answer, callClient } from './clients.js';
import type { ErrorBody, Plain } from './hauler.js';
import { administer, call, type Service, target } from './target.js';

/** 12 seconds with a key frame every 2 s: a clip can be cut of it. */
export const RECORDED = readFileSync(join(import.meta.dirname, '../../fixtures/videos/b-frames.mp4'));

export const TRUCK = 'TRUCK-7';
const FIRST = Date.parse('2026-01-31T08:30:00Z');

/** The time so many minutes after 08:30, as the service writes it. */
export const at = (minutes: number): string => new Date(FIRST + minutes * 60_000).toISOString().replace('.000Z', 'Z');

export interface Video extends Element {
  readonly id: string;
  readonly requestId?: string;
  readonly customerId: string;
  readonly truckId: string;
  readonly cameraId: string;
  readonly startTime: string;
  readonly endTime: string;
  readonly durationSeconds: number;
  readonly downloadUrl: string;
  readonly expiresAt: string;
}

interface Pagination {
  readonly page: number;
  readonly pageSize: number;
  readonly totalItems: number;
  readonly totalPages: number;
}

export interface ListBody extends ErrorBody {
  readonly data: {
    readonly videos: readonly Video[];
    readonly recordings: readonly Video[];
    readonly pagination: Pagination;
    readonly request?: { readonly requestId: string; readonly status: string; readonly message?: string };
  };
}

interface Acknowledgement extends ErrorBody {
  readonly requestId: string;
  readonly status: string;
  readonly message?: string;
}

interface HostedCallOptions {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The partner side that the service hosts. Each instance is a customer of its own, with a key that is limited to it. */
export class HostedCustomer {
  private constructor(
    readonly id: string,
    readonly key: string,
    readonly service: Service,
  ) {}

  static async create(service = target, more: Plain = {}): Promise<HostedCustomer> {
    const id = `Customer ${randomUUID().slice(0, 8)}`;
    const key = await issueKey({ interfaces: ['vision'], customerId: id, ...more }, service);
    return new HostedCustomer(id, key, service);
  }

  /** Uploads the recording of a minute, or of the time that `fields` say. */
  upload<Body = { id: string; sizeBytes: number; sha256: string } & ErrorBody>(
    minute: number,
    fields: Readonly<Record<string, string>> = {},
    bytes: Uint8Array = sampleVideo(2_000),
    type = 'video/mp4',
  ): Promise<Reply<Body>> {
    const times = { startTime: at(minute), endTime: at(minute + 1) };
    const query = new URLSearchParams({ customerId: this.id, truckId: TRUCK, cameraId: 'front', ...times, ...fields });
    const headers = { Authorization: `Bearer ${this.service.adminToken}`, 'Content-Type': type };
    const path = `/admin/v1/hosted/recordings?${query.toString()}`;
    return call<Body>('POST', path, { headers, body: bytes }, this.service);
  }

  /** Uploads one recording after the other. */
  async record(minutes: readonly number[], fields: Readonly<Record<string, string>> = {}): Promise<void> {
    for (const minute of minutes) expect((await this.upload(minute, fields)).status).toBe(201);
  }

  /** Names of a camera (decision 45). */
  putCamera(cameraId: string, aliases: readonly string[], truckId = TRUCK) {
    const body = { customerId: this.id, truckId, cameraId, aliases };
    return administer<Plain>('PUT', '/hosted/cameras', body, this.service);
  }

  /** The list of continuous recordings of TRUCK-7, from 08:30 to 08:40 unless the query says otherwise. */
  continuous(query: Plain = {}, options: HostedCallOptions = {}): Promise<Answer<ListBody>> {
    const range = { customerId: this.id, truckId: TRUCK, startTime: at(0), endTime: at(10) };
    return this.call('listContinuous', { ...range, ...query }, options);
  }

  videos(query: Plain = {}, options: HostedCallOptions = {}): Promise<Answer<ListBody>> {
    return this.call('listVideos', { customerId: this.id, ...query }, options);
  }

  /** Requests a clip of the first six seconds of the front camera of TRUCK-7, or what `fields` say. */
  request(fields: Plain = {}, options: HostedCallOptions = {}): Promise<Answer<Acknowledgement>> {
    const camera = { customerId: this.id, truckId: TRUCK, cameraId: 'front' };
    return this.call('requestVideo', { ...camera, startTime: at(0), endTime: at(0.1), ...fields }, options);
  }

  /** Polls a request until it has ended. */
  ended(requestId: string, options: HostedCallOptions = {}): Promise<ListBody['data']> {
    return eventually(async () => {
      const { body } = await this.videos({ requestId }, options);
      expect(body.data.request?.status).not.toBe('processing');
      return body.data;
    });
  }

  /** Moves the clock of the customer on. */
  clock(body: Plain): Promise<{ now: string }> {
    return administer('POST', `/sandbox/customers/${encodeURIComponent(this.id)}/clock`, body, this.service);
  }

  private call<Body>(operation: keyof Client, given: Plain, { key = this.key, headers = {} }: HostedCallOptions) {
    return callClient<Body>(operation, { given, key, service: this.service, options: { headers } });
  }
}

/** A new key with these fields. */
export const issueKey = async (fields: Plain, service = target): Promise<string> =>
  (await administer<{ key: string }>('POST', '/api-keys', fields, service)).key;
