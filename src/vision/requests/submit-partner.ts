import { Injectable } from '@nestjs/common';
import { VisionFindings } from '../findings.js';
import { type Acknowledged, VisionClient } from '../vision.client.js';
import { type VisionConnection, VisionConnections } from '../vision-connections.js';
import type { Part } from './parts.store.js';

/** The partner, for submitting. */
@Injectable()
export class SubmitPartner {
  constructor(
    private readonly client: VisionClient,
    readonly connections: VisionConnections,
    readonly findings: VisionFindings,
  ) {}

  submit(part: Part, connection: VisionConnection, signal: AbortSignal): Promise<Acknowledged> {
    const { customerId, truckId, cameraId, startTime, endTime } = part;
    return this.client.requestVideo({ customerId, truckId, cameraId, startTime, endTime }, { connection, signal });
  }
}
