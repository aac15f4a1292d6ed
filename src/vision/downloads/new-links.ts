import { Injectable } from '@nestjs/common';
import type { Recording } from '../../contracts/vision/vision.dto.js';
import { VisionConnections } from '../vision-connections.js';
import type { RecordingRow } from './recording-row.js';
import { Relink } from './relink.js';

/** New links, from the partner that the recording came from. */
@Injectable()
export class NewLinks {
  constructor(
    private readonly relink: Relink,
    private readonly connections: VisionConnections,
  ) {}

  /** The recording as it is listed now, or the reason why there will be no link any more. */
  async find(row: RecordingRow, signal: AbortSignal): Promise<Recording | string> {
    const connection = await this.connections.find(row.connection_id);
    if (connection === undefined) return 'The link died, and the connection was deleted meanwhile.';
    const listed = await this.relink.find(row, connection, signal);
    return listed ?? 'The link died before the file could be fetched, and the partner lists the recording no more.';
  }
}
